//! Messages with images.
