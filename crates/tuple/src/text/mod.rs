//! Text forms (being built).
