/**
 * Options of a Java program that runs for seconds. It ends before the JVM's second compiler would
 * pay off, and threads for garbage collection would cost more than they save.
 */
export const BRIEF_JVM = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'] as const;
