//! Which pages the memory of a ring between processes has.

/// A choice of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PagePolicy {
    /// Reserved huge pages for large rings if there are any, else what the system gives.
    #[default]
    Auto,
    /// Reserved huge pages (`vm.nr_hugepages`), or it fails.
    Huge,
    /// None that are reserved.
    Small,
}
