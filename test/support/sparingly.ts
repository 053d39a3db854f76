// How commands and servers that tests start differ from those of users.

/**
 * In tests, has JavaScript compiled later: most commands end before compiling it has paid off, and spent a quarter of their
 * processor time on it. Nor does it collect or touch new memory in further threads, for which tests leave no core. The
 * benchmark and the trials in `soak/` run as users have them, unless a test starts them.
 */
export const SPARINGLY: Readonly<Record<string, string>> =
  process.env.NODE_ENV === 'test'
    ? {
        BUN_JSC_useDFGJIT: '0',
        BUN_JSC_thresholdForJITAfterWarmUp: '5000',
        BUN_JSC_thresholdForJITSoon: '1000',
        BUN_JSC_numberOfGCMarkers: '1',
        BUN_JSC_useWarmUpMarkedBlocks: '0',
      }
    : {};
