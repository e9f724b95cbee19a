//! Settings of the client: what it understands, and where toolkits are.

use std::path::PathBuf;

use lsp_types::{InitializeParams, PositionEncodingKind};
use serde::Deserialize;

use crate::document_text::ColumnUnit;

/// Settings of one session, from the client's first message.
#[derive(Clone, Debug, Default)]
pub struct ClientSettings {
    /// Unit of columns in all positions.
    pub unit: ColumnUnit,
    /// Root folders of toolkits besides the standard one.
    pub toolkit_path: Vec<PathBuf>,
    /// Whether edits may say of which version of a document they are.
    pub takes_document_changes: bool,
}

/// The `initializationOptions` that the server knows.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct InitializationOptions {
    /// Root folders of toolkits.
    toolkit_path: Vec<PathBuf>,
}

impl ClientSettings {
    /// Reads the settings. Without toolkits in them, those of the variable
    /// `THALWEG_TOOLKIT_PATH` count; options of another form are ignored.
    pub fn new(params: &InitializeParams) -> ClientSettings {
        let general = params.capabilities.general.as_ref();
        let offered = general.and_then(|general| general.position_encodings.as_ref());
        let takes_bytes =
            offered.is_some_and(|offered| offered.contains(&PositionEncodingKind::UTF8));
        let options = params.initialization_options.clone().unwrap_or_default();
        let options: InitializationOptions = serde_json::from_value(options).unwrap_or_default();
        let toolkit_path = match options.toolkit_path.is_empty() {
            true => path_of_environment(),
            false => options.toolkit_path,
        };
        let workspace = params.capabilities.workspace.as_ref();
        let edits = workspace.and_then(|workspace| workspace.workspace_edit.as_ref());
        ClientSettings {
            takes_document_changes: edits.and_then(|edits| edits.document_changes) == Some(true),
            unit: match takes_bytes {
                true => ColumnUnit::Utf8,
                false => ColumnUnit::Utf16,
            },
            toolkit_path,
        }
    }
}

fn path_of_environment() -> Vec<PathBuf> {
    let variable = std::env::var_os("THALWEG_TOOLKIT_PATH").unwrap_or_default();
    let folders = std::env::split_paths(&variable);
    folders
        .filter(|folder| !folder.as_os_str().is_empty())
        .collect()
}
