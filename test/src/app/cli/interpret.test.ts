import { execFile } from 'node:child_process';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { simulateFrame } from '../../../../models/phantom/frame.ts';
import { sizesAt } from '../../../../models/phantom/sizes.ts';

const CLI = fileURLToPath(new URL('../../../../src/app/cli/sonogate.ts', import.meta.url));
const LONGEST_MS = 120_000;

it(
  'interpret --batch writes a result for each image, explains how to state a scale, and counts refusals',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sonogate-interpret-'));
    const { gray, columns, rows } = simulateFrame({
      plane: 'femur',
      sizes: sizesAt(200),
      seed: 1,
    });
    const image = sharp(gray, { raw: { width: columns, height: rows, channels: 1 } });
    await image.png().toFile(join(folder, 'femur.png'));
    await writeFile(join(folder, 'notes.txt'), 'no image');
    const out = join(folder, 'out');
    const files = ['femur.png', 'notes.txt'].map((name) => join(folder, name));
    const given = ['interpret', 'us/obstetric', ...files, '--batch', '--out', out];
    const { status, stdout, stderr } = await new Promise<{
      status: number;
      stdout: string;
      stderr: string;
    }>((done) => {
      execFile(
        process.execPath,
        [CLI, ...given],
        { timeout: LONGEST_MS },
        (error, stdout, stderr) => done({ status: Number(error?.code ?? 0), stdout, stderr }),
      );
    });
    expect(stderr).toContain('1 of 1 frames have no scale');
    expect(stderr).toContain('state the scale with --mm-per-px');
    expect(stderr).toContain('no_readable_image: ');
    expect(stdout).toContain('1 read, 1 refused');
    expect(status).toBe(3);
    await access(join(out, 'femur.png', 'result.json'));
    await expect(access(join(out, 'notes.txt'))).rejects.toThrow('ENOENT');
    await rm(folder, { recursive: true });
  },
  LONGEST_MS,
);
