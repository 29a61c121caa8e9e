import { constants } from 'node:os';

/**
 * Ends the command without a word when who reads its output has gone (`| head`), with the status
 * of a program that SIGPIPE has ended: Node.js ignores that signal.
 */
export function endOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(128 + constants.signals.SIGPIPE);
  });
}
