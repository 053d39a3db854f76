// How commands and servers that tests start differ from those of users.

/**
 * Has JavaScript be compiled later, in tests: most commands end before that has paid for itself, and spent a quarter of
 * their processor time on it. Long trials (`soak/`), run by themselves, and the benchmark go by what users get.
 */
export const COMPILES_LATE: Readonly<Record<string, string>> =
  process.env.NODE_ENV === 'test'
    ? {
        BUN_JSC_useDFGJIT: '0',
        BUN_JSC_thresholdForJITAfterWarmUp: '5000',
        BUN_JSC_thresholdForJITSoon: '1000',
      }
    : {};
