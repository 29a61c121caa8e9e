import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GrayImage } from '../../pipelines/contract/image.ts';
import { readGray } from './cases.ts';

/** `held`: every seventh patient of the role `train`, whom no weight has seen (echo_datasets.py). */
export type HeartRole = 'validation' | 'held';
const HELD_EVERY = 7;

/** One phase of a patient: image and reference mask (0 ground, 1 LV, 2 myocardium, 3 LA). */
export interface HeartFrame {
  image: GrayImage;
  mask: GrayImage;
}

export interface HeartCase {
  patient: string;
  ed: HeartFrame;
  es: HeartFrame;
  /** Percent, single-plane area-length of the expert's masks. */
  ejectionFraction: number;
}

/** Apical four-chamber pairs of CAMUS (Leclerc et al., IEEE TMI 2019). */
export async function camusCases(data: string, role: HeartRole): Promise<HeartCase[]> {
  const folder = join(data, 'camus-a4c');
  const [header = '', ...lines] = (await readFile(join(folder, 'labels.csv'), 'utf8'))
    .trim()
    .split(/\r?\n/);
  const names = header.split(',');
  const rows = lines.map((line) =>
    Object.fromEntries(line.split(',').map((cell, i) => [names[i] ?? '', cell])),
  );
  const ofRole = rows.filter((row) => row.role === (role === 'held' ? 'train' : role));
  const chosen = role === 'held' ? ofRole.filter((_, n) => n % HELD_EVERY === 0) : ofRole;
  const frame = async (image = '', mask = ''): Promise<HeartFrame> => ({
    image: await readGray(join(folder, image)),
    mask: await readGray(join(folder, mask)),
  });
  return Promise.all(
    chosen.map(async (row) => ({
      patient: row.patient ?? '',
      ed: await frame(row.ed_image, row.ed_mask),
      es: await frame(row.es_image, row.es_mask),
      ejectionFraction: Number(row.ef_pct),
    })),
  );
}

/** Patients whose LVEF the other roles may be compared with: their median is the constant guess. */
export async function medianEjectionFraction(data: string): Promise<number> {
  const text = await readFile(join(data, 'camus-a4c/labels.csv'), 'utf8');
  const train = text.split('\n').filter((line) => line.includes(',train,'));
  const values = train
    .map((line) => Number(line.trim().split(',').at(-1)))
    .toSorted((a, b) => a - b);
  return values[Math.floor(values.length / 2)] ?? Number.NaN;
}
