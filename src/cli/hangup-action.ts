/** What SIGHUP does. Windows sends it when the console window is closed, and ends the process a few
 *  seconds later; elsewhere it is the usual request to read the configuration again. */
export function hangupAction(platform: NodeJS.Platform = process.platform): "reload" | "stop" {
  return platform === "win32" ? "stop" : "reload";
}
