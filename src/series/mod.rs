//! From mails to one ordered series: which of them are its patches, in which version and order.

mod choose;
mod load;
mod posting;
mod subject;

pub use load::{is_input, load};
