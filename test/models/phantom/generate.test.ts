import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'phantom-frames-'));
afterAll(() => rmSync(folder, { recursive: true }));

const generate = (...options: string[]) =>
  spawnSync(process.execPath, ['models/phantom/generate.ts', ...options], { encoding: 'utf8' });

interface Label {
  file: string;
  plane: string;
  columns: number;
  rows: number;
  mmPerPixel: number;
}

describe('node models/phantom/generate.ts', () => {
  it('writes the requested frames, each with a label that fits its picture', async () => {
    const run = generate(
      '--count',
      '2',
      '--planes',
      'abdomen,femur',
      '--seed',
      '3',
      '--out',
      folder,
    );
    expect(run.status, run.stderr).toBe(0);
    const labels: Label[] = JSON.parse(readFileSync(join(folder, 'labels.json'), 'utf8'));
    expect(labels.map(({ plane }) => plane)).toEqual(['abdominal', 'femur']);
    for (const { file, columns, rows } of labels) {
      const picture = await sharp(join(folder, file)).metadata();
      expect([picture.width, picture.height]).toEqual([columns, rows]);
    }
  });

  it('writes a view together with the masks of its structures', async () => {
    const view = join(folder, 'view');
    const run = generate('--count', '1', '--planes', 'cervix', '--seed', '5', '--out', view);
    expect(run.status, run.stderr).toBe(0);
    const [label] = JSON.parse(readFileSync(join(view, 'labels.json'), 'utf8'));
    expect(label.values.cervicalLengthMm).toBeGreaterThan(0);
    const { width, channels } = await sharp(join(view, label.masks.cervix)).metadata();
    expect([width, channels]).toEqual([label.columns, 1]);
  });

  it('lists the available planes when an unknown one is requested', () => {
    const run = generate('--planes', 'heart', '--out', folder);
    expect(run.status).not.toBe(0);
    expect(run.stderr).toContain('unknown plane "heart"');
  });

  it('prints its usage when the folder is missing', () => {
    const run = generate('--count', '1');
    expect(run.status).toBe(2);
    expect(run.stderr).toContain('--out DIR');
  });
});
