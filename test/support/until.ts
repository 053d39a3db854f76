// Waits for what is to happen, however busy the machine is.
const WAIT_MS_MAX = 90_000;
const LOOK_EVERY_MS = 10;

/** Resolves once a condition holds; rejects with the explanation if it does not within so many milliseconds. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  explain: () => string = () => String(holds),
  msMax = WAIT_MS_MAX,
): Promise<void> {
  const endMs = performance.now() + msMax;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`this did not happen in time: ${explain()}`);
    await Bun.sleep(LOOK_EVERY_MS);
  }
}
