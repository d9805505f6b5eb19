//! One episode that is played step by step, and the address that leads to it.
