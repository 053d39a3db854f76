// A macro: runs while the server is compiled, so that the executable holds the page's script as one text.

/** The page's script, bundled from `client/`; throws what the compiler says of a fault in it. */
export async function clientScript(): Promise<string> {
  const entry = `${import.meta.dir}/client/main.ts`;
  // Bun.build would wait for the very build that waits for this.
  const bundling = Bun.spawn([process.execPath, 'build', entry, '--minify', '--format=esm'], {
    stderr: 'pipe',
  });
  const [script, complaints, code] = await Promise.all([
    new Response(bundling.stdout).text(),
    new Response(bundling.stderr).text(),
    bundling.exited,
  ]);
  if (code !== 0) throw new Error(complaints);
  return script;
}
