//! The page of Volary, and its worker: one wasm binary that looks where it was started.

/// Smaller and faster than what Rust brings along for wasm: an environment's step is mostly small allocations.
#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

fn main() {
    volary::start();
}
