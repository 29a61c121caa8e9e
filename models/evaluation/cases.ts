import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import type { Ellipse, GrayImage, Point } from '../../pipelines/contract/image.ts';
import type { Rectangle } from '../../pipelines/contract/study.ts';
import { ellipseFromMoments, fitEllipse } from '../../pipelines/measure/ellipse-fit.ts';
import type { MidsagittalStructure } from '../../pipelines/obstetric/nt/evidence.ts';
import { mean } from './agreement.ts';

/**
 * Finds the ellipse drawn as a thin bright line on black, as in HC18.
 *
 * @throws if no ellipse is drawn.
 */
export function drawnEllipse({ width, data }: GrayImage): Ellipse {
  const points: Point[] = [];
  data.forEach((value, i) => {
    if (value > 127) points.push({ x: i % width, y: Math.floor(i / width) });
  });
  const centre = { x: mean(points.map(({ x }) => x)), y: mean(points.map(({ y }) => y)) };
  const moment = (of: (x: number, y: number) => number) =>
    mean(points.map(({ x, y }) => of(x - centre.x, y - centre.y)));
  // The second moments of an ellipse's border are twice those of its area.
  const start = ellipseFromMoments({
    mean: centre,
    xx: moment((x) => x * x) / 2,
    xy: moment((x, y) => x * y) / 2,
    yy: moment((_, y) => y * y) / 2,
  });
  const ellipse = fitEllipse(points, start);
  if (!ellipse) throw new Error(`no ellipse in ${points.length} drawn pixels`);
  return ellipse;
}

export type SplitName = 'test' | 'validation';
type ModelFolder =
  | 'fetal-plane'
  | 'fetal-head'
  | 'fetal-abdomen'
  | 'fetal-femur'
  | 'symphysis-head'
  | 'fetal-midsagittal';

/** One held-out image and its reference. */
export interface Case {
  dataset: string;
  image: string;
  path: string;
  plane?: string;
  mmPerPixel?: number;
  /** Reference length or circumference in mm. */
  referenceMm?: number;
  /** Exact labels. Phantoms only. */
  ellipse?: Ellipse;
  ends?: readonly Point[];
  /** Reference mask: 1 symphysis, 2 fetal head. */
  mask?: string;
  /** Reference boxes of a mid-sagittal image. */
  boxes?: Partial<Record<MidsagittalStructure, Rectangle>>;
  /** Angle of progression and nuchal translucency thickness in a phantom. */
  angleDegrees?: number;
  nuchalMm?: number;
}

type Row = Record<string, string>;

async function readRows(file: string): Promise<Map<string, Row>> {
  const [header = '', ...lines] = (await readFile(file, 'utf8')).trim().split(/\r?\n/);
  const names = header.split(',');
  const rows = lines.map((line) => {
    const cells = line.split(',');
    return Object.fromEntries(names.map((name, i) => [name, cells[i] ?? '']));
  });
  return new Map(rows.map((row) => [row.image ?? '', row]));
}

async function heldOut(model: ModelFolder, dataset: string, split: SplitName): Promise<string[]> {
  const file = new URL(`../${model}/split.json`, import.meta.url);
  const splits: Record<string, Partial<Record<SplitName, string[]>>> = JSON.parse(
    await readFile(file, 'utf8'),
  );
  return splits[dataset]?.[split] ?? [];
}

/** Returns the HC18 heads. The reference is the sonographer's ellipse, with its circumference. */
export async function hc18Cases(data: string, split: SplitName): Promise<Case[]> {
  const rows = await readRows(join(data, 'hc18/labels.csv'));
  const images = await heldOut('fetal-head', 'hc18', split);
  return Promise.all(
    images.map(async (image) => ({
      dataset: 'hc18',
      image,
      path: join(data, 'hc18', image),
      mmPerPixel: Number(rows.get(image)?.mm_per_px),
      referenceMm: Number(rows.get(image)?.hc_mm),
      ellipse: drawnEllipse(await readGray(join(data, 'hc18', rows.get(image)?.outline ?? ''))),
    })),
  );
}

const REFERENCE_COLUMN = {
  'fetal-head': 'hc_mm',
  'fetal-abdomen': 'ac_mm',
  'fetal-femur': 'fl_mm',
} as const;

/** Returns the FETAL_PLANES_DB images that have landmarks. The reference is computed from these. */
export async function landmarkCases(
  data: string,
  model: keyof typeof REFERENCE_COLUMN,
  split: SplitName,
): Promise<Case[]> {
  const rows = await readRows(join(data, 'fetal-planes/landmarks.csv'));
  const images = await heldOut(model, 'fetal-planes', split);
  return images.map((image) => ({
    dataset: 'fetal-planes',
    image,
    path: join(data, 'fetal-planes', image),
    mmPerPixel: Number(rows.get(image)?.mm_per_px),
    referenceMm: Number(rows.get(image)?.[REFERENCE_COLUMN[model]]),
  }));
}

const PLANE_OF_LABEL: Record<string, string> = {
  'Fetal abdomen': 'abdominal',
  'Fetal femur': 'femur',
  'Fetal thorax': 'thorax',
  'Trans-thalamic': 'transthalamic',
  'Trans-ventricular': 'transventricular',
  'Trans-cerebellum': 'transcerebellar',
  Other: 'other',
};

/** Returns labelled planes, transperineal images and first-trimester mid-sagittal images. */
export async function planeCases(data: string, split: SplitName): Promise<Case[]> {
  const rows = await readRows(join(data, 'fetal-planes/labels.csv'));
  const cases: Case[] = (await heldOut('fetal-plane', 'fetal-planes', split)).map((image) => {
    const row = rows.get(image) ?? {};
    const plane = PLANE_OF_LABEL[row.plane ?? ''] ?? PLANE_OF_LABEL[row.brain_plane ?? ''];
    const path = join(data, 'fetal-planes', image);
    return { dataset: 'fetal-planes', image, path, plane };
  });
  for (const [dataset, plane] of [
    ['psfhs', 'transperineal'],
    ['nt-midsagittal', 'midsagittal'],
  ] as const) {
    const images = await heldOut('fetal-plane', dataset, split);
    const folder = join(data, dataset, 'images');
    // Every third psfhs image is enough, because neighbouring images are frames of one video.
    for (const image of images.filter((_, i) => i % 3 === 0)) {
      cases.push({ dataset, image, path: join(folder, image), plane });
    }
  }
  return cases;
}

/** Returns PSFHS frames with masks of the symphysis and the head. */
export async function transperinealCases(data: string, split: SplitName): Promise<Case[]> {
  const images = await heldOut('symphysis-head', 'psfhs', split);
  return images.map((image) => ({
    dataset: 'psfhs',
    image,
    path: join(data, 'psfhs/images', image),
    mask: join(data, 'psfhs/masks', image.replace(/\.\w+$/, '.png')),
  }));
}

/** Structure for each value in the `structure` column of boxes.csv. */
const STRUCTURE_OF_LABEL: Readonly<Record<string, MidsagittalStructure>> = {
  thalami: 'thalami',
  midbrain: 'midbrain',
  palate: 'palate',
  IT: 'intracranial-translucency',
  CM: 'cisterna-magna',
  NT: 'nuchal-translucency',
  'nasal bone': 'nasal-bone',
  'nasal tip': 'nasal-tip',
  'nasal skin': 'nasal-skin',
};

/** Returns first-trimester mid-sagittal images with their boxes. */
export async function midsagittalCases(data: string, split: SplitName): Promise<Case[]> {
  const lines = (await readFile(join(data, 'nt-midsagittal/boxes.csv'), 'utf8')).trim().split('\n');
  const boxes = new Map<string, Partial<Record<MidsagittalStructure, Rectangle>>>();
  for (const line of lines.slice(1)) {
    const [path = '', label = '', minY, minX, maxY, maxX] = line.trim().split(',');
    const structure = STRUCTURE_OF_LABEL[label];
    if (!structure) continue;
    const image = path.replace('images/', '');
    const box = { minX: Number(minX), minY: Number(minY), maxX: Number(maxX), maxY: Number(maxY) };
    boxes.set(image, { ...boxes.get(image), [structure]: box });
  }
  const images = await heldOut('fetal-midsagittal', 'nt-midsagittal', split);
  return images.map((image) => ({
    dataset: 'nt-midsagittal',
    image,
    path: join(data, 'nt-midsagittal/images', image),
    boxes: boxes.get(image),
  }));
}

/**
 * Returns the validation images of CAMUS, which show adult hearts. No model was trained on them.
 * The plane classifier should label them `other`.
 */
export async function heartCases(data: string): Promise<Case[]> {
  const text = await readFile(join(data, 'camus-a4c/labels.csv'), 'utf8');
  const validation = text.split('\n').filter((line) => line.includes(',validation,'));
  return validation.map((line) => {
    const image = line.split(',')[2] ?? '';
    return { dataset: 'camus-a4c', image, path: join(data, 'camus-a4c', image), plane: 'other' };
  });
}

interface PhantomLabel {
  file: string;
  plane: string;
  mmPerPixel: number;
  head?: { ellipse: Ellipse; circumferenceMm: number };
  abdomen?: { ellipse: Ellipse; circumferenceMm: number };
  femur?: { ends: Point[]; flMm: number };
  values?: Readonly<Record<string, number>>;
  points?: Readonly<Record<string, readonly Point[]>>;
}

/** Simulator views that the classifier assigns to another class (models/training/datasets.py). */
const CLASS_OF_VIEW: Readonly<Record<string, string>> = {
  'placenta-edge': 'cervix',
  'crl-sagittal': 'midsagittal',
  'fluid-sweep': 'amniotic-fluid',
};

/**
 * Returns the boxes of a mid-sagittal phantom, each built from two corners, under the data set's
 * names.
 */
function phantomBoxes(points: PhantomLabel['points'] = {}): Case['boxes'] {
  const boxes = Object.entries(points).flatMap(([label, [from, to]]) => {
    const structure = STRUCTURE_OF_LABEL[label];
    if (!structure || !from || !to) return [];
    return [[structure, { minX: from.x, minY: from.y, maxX: to.x, maxY: to.y }] as const];
  });
  return Object.fromEntries(boxes);
}

/** Returns the frames generated by models/phantom/generate.ts. Empty if no folder is given. */
export async function phantomCases(folder: string | undefined): Promise<Case[]> {
  if (folder === undefined || !existsSync(join(folder, 'labels.json'))) return [];
  const labels: PhantomLabel[] = JSON.parse(await readFile(join(folder, 'labels.json'), 'utf8'));
  return labels.map((label) => {
    const outline = label.head ?? label.abdomen;
    return {
      dataset: 'phantom',
      image: label.file,
      path: join(folder, label.file),
      plane: CLASS_OF_VIEW[label.plane] ?? label.plane,
      mmPerPixel: label.mmPerPixel,
      referenceMm: outline?.circumferenceMm ?? label.femur?.flMm,
      ellipse: outline?.ellipse,
      ends: label.femur?.ends,
      angleDegrees: label.values?.angleOfProgressionDegrees,
      nuchalMm: label.values?.ntMm,
      boxes: phantomBoxes(label.points),
    };
  });
}

export async function readGray(path: string): Promise<GrayImage> {
  const { data, info } = await sharp(path).greyscale().raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data: new Uint8Array(data) };
}
