//! The page of Volary and its worker: one wasm binary that detects where it was started.

fn main() {
    volary::start();
}
