//! The page of Volary and its worker: one wasm binary that detects where it was started.

/// Smaller and faster than Rust's default allocator for wasm: an environment's step consists mostly of small
/// allocations.
#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

fn main() {
    volary::start();
}
