/** A report page whose own script alone may run, whatever the text in it is. */

const SCRIPTS = "script-src 'unsafe-inline'";

export function sealed(html: string, nonce: string): string {
  const policy = html.indexOf(SCRIPTS);
  const script = html.lastIndexOf("<script>");
  if (policy < 0 || script < policy) return html.replaceAll(/<script\b/gi, "<template");
  return `${html.slice(0, policy)}script-src 'nonce-${nonce}'${html.slice(policy + SCRIPTS.length, script)}<script nonce="${nonce}">${html.slice(script + "<script>".length)}`;
}
