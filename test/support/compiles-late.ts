// How commands and servers that tests start differ from those of users.

/**
 * In tests, has JavaScript compiled later: most commands end before compiling it has paid off, and spent a quarter of their
 * processor time on it. The benchmark and the trials in `soak/` run as users have them, unless a test starts them.
 */
export const COMPILES_LATE: Readonly<Record<string, string>> =
  process.env.NODE_ENV === 'test'
    ? {
        BUN_JSC_useDFGJIT: '0',
        BUN_JSC_thresholdForJITAfterWarmUp: '5000',
        BUN_JSC_thresholdForJITSoon: '1000',
      }
    : {};
