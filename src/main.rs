//! The page of Volary, and its worker: one wasm binary that looks where it was started.

fn main() {
    volary::start();
}
