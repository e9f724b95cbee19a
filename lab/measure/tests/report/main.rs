//! Reports, from outcomes to files: structure, places of points, reading back, a real browser.

mod browser;
mod files;
mod folder;
mod page;
mod samples;
