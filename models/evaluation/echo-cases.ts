import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GrayImage } from '../../pipelines/contract/image.ts';
import { readGray } from './cases.ts';
import type { ViewCase } from './echo-views.ts';

/** `held`: every seventh patient with the role `train`, not used in training (echo_datasets.py). */
export type HeartRole = 'validation' | 'held';
const HELD_EVERY = 7;

/** One phase of a patient: image and reference mask (0 background, 1 LV, 2 myocardium, 3 LA). */
export interface HeartFrame {
  image: GrayImage;
  mask: GrayImage;
}

export interface HeartCase {
  patient: string;
  ed: HeartFrame;
  es: HeartFrame;
  /**
   * Reference ejection fraction, per cent, by the single-plane area-length method on the expert's
   * masks.
   */
  ejectionFraction: number;
}

/** Returns the apical four-chamber pairs of CAMUS (Leclerc et al., IEEE TMI 2019). */
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

/**
 * Returns the median LVEF of the training patients, per cent. The models are compared with this
 * constant answer.
 */
export async function medianEjectionFraction(data: string): Promise<number> {
  const text = await readFile(join(data, 'camus-a4c/labels.csv'), 'utf8');
  const train = text.split('\n').filter((line) => line.includes(',train,'));
  const values = train
    .map((line) => Number(line.trim().split(',').at(-1)))
    .toSorted((a, b) => a - b);
  return values[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** A line of labels.jsonl (models/phantom/echo/generate.ts and generate-views.ts). */
interface PhantomLabel {
  file: string;
  mask?: string;
  view: string;
  phase?: 'ED' | 'ES';
  pair: string;
  mmPerPixel: number;
  planeVolumeMl?: number;
  values?: Readonly<Record<string, number>>;
}

async function labelsOf(folder: string): Promise<PhantomLabel[]> {
  const text = await readFile(join(folder, 'labels.jsonl'), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/**
 * Returns the pairs of one apical view. Their LVEF is calculated in the plane, as a single-plane
 * method would do.
 */
export async function phantomPairs(folder: string, view: string): Promise<HeartCase[]> {
  const labels = (await labelsOf(folder)).filter((label) => label.view === view);
  const of = (pair: string, phase: string) =>
    labels.find((label) => label.pair === pair && label.phase === phase);
  const cases: HeartCase[] = [];
  for (const pair of new Set(labels.map((label) => label.pair))) {
    const [ed, es] = [of(pair, 'ED'), of(pair, 'ES')];
    if (!ed?.planeVolumeMl || es?.planeVolumeMl === undefined) continue;
    const frame = async ({ file, mask = '' }: PhantomLabel) => ({
      image: await readGray(join(folder, file)),
      mask: await readGray(join(folder, mask)),
    });
    cases.push({
      patient: pair,
      ed: await frame(ed),
      es: await frame(es),
      ejectionFraction: 100 * (1 - es.planeVolumeMl / ed.planeVolumeMl),
    });
  }
  return cases;
}

export async function phantomViews(folder: string): Promise<ViewCase[]> {
  const labels = await labelsOf(folder);
  return Promise.all(
    labels.map(async ({ file, view }) => ({ view, frames: [await readGray(join(folder, file))] })),
  );
}

/**
 * View for each echo-views label that differs from the view's name. A part of a view (a zoom) does
 * not count as that view.
 */
const VIEW_OF_LABEL: Readonly<Record<string, string>> = { 'A4C-zoom': 'other' };

/** Returns stills of real patients, with the machines' text, ECG and rulers (TTE47). */
export async function realStills(data: string): Promise<ViewCase[]> {
  const folder = join(data, 'echo-views');
  const [, ...lines] = (await readFile(join(folder, 'labels.csv'), 'utf8')).trim().split(/\r?\n/);
  return Promise.all(
    lines.map(async (line) => {
      const [file = '', view = ''] = line.split(',');
      return { view: VIEW_OF_LABEL[view] ?? view, frames: [await readGray(join(folder, file))] };
    }),
  );
}

/** Reads a camus-biplane picture. Its pixels are twice as wide as high. */
async function biplaneImage(stem: string): Promise<GrayImage> {
  const header = await readFile(`${stem}.mhd`, 'utf8');
  const [width = 0, rows = 0] = (/DimSize = (.*)/.exec(header)?.[1] ?? '').split(/\s+/).map(Number);
  const pixels = new Uint8Array(await readFile(`${stem}.raw`));
  // Using every second row makes the pixels square.
  const height = Math.floor(rows / 2);
  const data = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    data.set(pixels.subarray(2 * y * width, (2 * y + 1) * width), y * width);
  }
  return { width, height, data };
}

/** Returns both phases of A2C and A4C for the three camus-biplane patients. */
export async function biplaneViews(data: string): Promise<ViewCase[]> {
  const views = { '2CH': 'A2C', '4CH': 'A4C' } as const;
  const wanted = ['patient0001', 'patient0003', 'patient0005'].flatMap((patient) =>
    Object.entries(views).flatMap(([name, view]) =>
      ['ED', 'ES'].map((phase) => ({
        view,
        stem: join(data, 'camus-biplane', patient, `${patient}_${name}_${phase}`),
      })),
    ),
  );
  return Promise.all(
    wanted.map(async ({ view, stem }) => ({ view, frames: [await biplaneImage(stem)] })),
  );
}

/** A parasternal long-axis image. `mm` contains the dimension measured on each line. */
export interface LongAxisCase {
  image: GrayImage;
  mmPerPixel: number;
  mm: Readonly<Record<'septum' | 'cavity' | 'posterior-wall' | 'sinus', number>>;
}

export async function phantomLongAxes(folder: string): Promise<LongAxisCase[]> {
  const labels = (await labelsOf(folder)).filter(({ view }) => view === 'PLAX');
  return Promise.all(
    labels.map(async ({ file, mmPerPixel, values = {} }) => ({
      image: await readGray(join(folder, file)),
      mmPerPixel,
      mm: {
        septum: values.ivsMm ?? Number.NaN,
        cavity: values.lvidMm ?? Number.NaN,
        'posterior-wall': values.lvpwMm ?? Number.NaN,
        sinus: values.sinusMm ?? Number.NaN,
      },
    })),
  );
}
