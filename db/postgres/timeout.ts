// Waiting that has an end.

/** What the work gives, or the error of `late` if it takes more milliseconds; the work itself goes on. */
export async function inTime<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: Timer | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
