import type { Stage } from '../requests/row.ts';

const BAR = 24;

/** `[######------------------]  25 %  Finding standard planes, 12 s left`, at most `columns` wide. */
export function progressLine({ label, progress, eta_s }: Stage, columns: number): string {
  const done = Math.round(Math.min(Math.max(progress, 0), 1) * BAR);
  const bar = '#'.repeat(done).padEnd(BAR, '-');
  const percent = String(Math.floor(progress * 100)).padStart(3);
  const left = eta_s ? `, ${eta_s} s left` : '';
  return `[${bar}] ${percent} %  ${label}${left}`.slice(0, columns);
}

export interface ProgressOutput {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

/** Draws over one line of a terminal; elsewhere writes one line for each stage. */
export function progressBar(output: ProgressOutput) {
  const { isTTY = false } = output;
  let last = '';
  return {
    show(stage: Stage): void {
      const line = progressLine(stage, output.columns ?? 120);
      if (line === last) return;
      last = line;
      output.write(isTTY ? `\r\u001b[K${line}` : `${line}\n`);
    },
    /** A line of its own above the bar. */
    say(text: string): void {
      output.write(isTTY ? `\r\u001b[K${text}\n${last}` : `${text}\n`);
    },
    end(): void {
      if (isTTY && last !== '') output.write('\n');
    },
  };
}
