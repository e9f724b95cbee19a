// Starts `thalweg lsp` for SPL files, and stops it when the window closes.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function start() {
  const settings = vscode.workspace.getConfiguration("thalweg");
  const server = { command: settings.get("command"), args: ["lsp"] };
  client = new LanguageClient("thalweg", "SPL (Thalweg)", server, {
    documentSelector: [{ language: "spl" }],
    initializationOptions: { toolkitPath: settings.get("toolkitPath") },
    synchronize: {
      fileEvents: vscode.workspace.createFileSystemWatcher("**/*.spl"),
    },
  });
  return client.start();
}

async function restart() {
  await client?.stop();
  await start();
}

function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("thalweg.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("thalweg")) {
        restart();
      }
    }),
  );
  return start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
