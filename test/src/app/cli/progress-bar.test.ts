import { describe, expect, it } from 'vitest';
import { progressBar, progressLine } from '../../../../src/app/cli/remote.ts';

const stage = (progress: number, eta_s: number | null = null) => ({
  name: 'inference.planes',
  label: 'Finding standard planes',
  progress,
  eta_s,
});

describe('the progress line', () => {
  it.each([
    [0, '[------------------------]   0 %'],
    [0.5, '[############------------]  50 %'],
    [1, '[########################] 100 %'],
  ])('at %d begins with %s', (progress, line) => {
    expect(progressLine(stage(progress), 80)).toBe(`${line}  Finding standard planes`);
  });

  it('states how long it will take if that is known', () => {
    expect(progressLine(stage(0.5, 12), 80)).toMatch(/, 12 s left$/);
  });

  it('is cut to the width of the terminal, so that it never wraps', () => {
    expect(progressLine(stage(0.5), 40)).toHaveLength(40);
  });
});

describe('the bar', () => {
  const drawn = (isTTY: boolean) => {
    const written: string[] = [];
    const bar = progressBar({ isTTY, columns: 80, write: (text) => written.push(text) });
    bar.show(stage(0.5));
    bar.show(stage(0.5));
    bar.show(stage(0.6));
    bar.end();
    return written;
  };

  it('draws over its line on a terminal', () => {
    const written = drawn(true);
    expect(written).toHaveLength(3);
    expect(written[1]).toMatch(/^\r/);
    expect(written[2]).toBe('\n');
  });

  it('writes a line for each change if there is no terminal', () => {
    for (const line of drawn(false)) expect(line).toMatch(/^\[.*\n$/);
  });
});
