//! Page sizes for the memory of a ring between processes.

/// Page size of a ring's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PagePolicy {
    /// Reserved huge pages for large rings if there are any, else small pages.
    #[default]
    Auto,
    /// Reserved huge pages (`vm.nr_hugepages`); creating the ring fails if there are none.
    Huge,
    /// Small pages, never reserved huge ones.
    Small,
}
