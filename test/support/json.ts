// Whatever JSON an answer holds.

// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
export type Json = any;
