// A macro that runs while the server is compiled, so that the executable contains the page's script as one text.

/** The page's script, bundled from `client/`; throws the compiler's message if it has an error. */
export async function clientScript(): Promise<string> {
  const entry = `${import.meta.dir}/client/main.ts`;
  // Bun.build would wait for the build that is waiting for this macro.
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
