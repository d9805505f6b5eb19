//! Episodes: the record of what happened, frame history, diffs, and the formats in and out.
