import { z } from 'zod';
import { HEAD_PLANES } from '../../pipelines/obstetric/planes/locate.ts';
import type { Measurement, Result } from '../../pipelines/result/envelope.ts';
import { mean, round } from './agreement.ts';

/** A statement in a result about a structure that the image does not show. */
export interface Crossed {
  /** The biometry structure or, for any other statement, the section. */
  part: string;
  said: string;
}

const HEAD = ['head', 'biometry', 'growth', 'anomaly-screen'];

/**
 * Structures that may be measured on an image of each known plane. Nothing may be measured on any
 * other plane.
 */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  transthalamic: HEAD,
  transventricular: HEAD,
  transcerebellar: HEAD,
  // Brain images outside the three planes still show a head.
  other: HEAD,
  abdominal: ['abdomen', 'biometry', 'growth'],
  femur: ['femur', 'biometry', 'growth'],
  thorax: ['fetal-heart'],
  transperineal: ['labor-progress'],
  midsagittal: ['nt', 'early-pregnancy'],
};

const STRUCTURE_OF: Readonly<Record<string, string>> = {
  bpd: 'head',
  ofd: 'head',
  hc: 'head',
  tad: 'abdomen',
  apad: 'abdomen',
  ac: 'abdomen',
  fl: 'femur',
};

const isOfThePixels = ({ source, derivation, quality }: Measurement) =>
  (source.provenance === 'model' || source.provenance === 'image-analysis') &&
  derivation !== 'calculated' &&
  quality === 'accepted';

/**
 * Returns the statements in a result about structures that its single image does not show: accepted
 * values measured on the pixels, findings, categories and scores. The category `not-assessed` is
 * not a statement. `plane` is the image's plane, or null if it shows no part of a fetus.
 */
export function crossedOf(
  { measurements, findings, classifications, scores }: Result,
  plane: string | null,
): Crossed[] {
  const shown = (plane !== null && SHOWN[plane]) || [];
  const values = measurements.filter(isOfThePixels).map(({ section, concept, label, value }) => ({
    part: STRUCTURE_OF[concept.key] ?? section,
    said: `${label} ${value}`,
  }));
  const others = [
    ...findings.map(({ section, text }) => ({ part: section, said: text })),
    ...classifications
      .filter(({ value }) => value !== 'not-assessed')
      .map(({ section, name, value }) => ({ part: section, said: `${name} ${value}` })),
    ...scores.map(({ section, name }) => ({ part: section, said: name })),
  ];
  // Plane labels are left out. They are not measurements, and a wrong label alone has no
  // consequence.
  return [...values, ...others].filter(({ part }) => part !== 'planes' && !shown.includes(part));
}

/**
 * Counts the images with at least one statement about a structure that they do not show, in total
 * and by part. `found` contains the statements of each image.
 */
export function countCrossed(found: readonly (readonly Crossed[])[]): {
  images: number;
  by: Record<string, number>;
} {
  const by: Record<string, number> = {};
  for (const crossed of found) {
    for (const part of new Set(crossed.map((one) => one.part))) by[part] = (by[part] ?? 0) + 1;
  }
  return { images: found.filter((crossed) => crossed.length > 0).length, by };
}

const planesData = z.object({ counts: z.record(z.string(), z.number()) });

/** Counts the frames of each plane in a result. Empty if the result identifies no planes. */
export function countNamed({ sections }: Pick<Result, 'sections'>): Record<string, number> {
  const own = planesData.safeParse(sections.find(({ id }) => id === 'planes')?.data);
  const counts = Object.entries(own.data?.counts ?? {});
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

/**
 * Returns the number of frames for which a result identifies a plane. If there are none, the number
 * of all frames is returned.
 */
export function framesOf(result: Pick<Result, 'sections' | 'input_summary'>): number {
  const named = Object.values(countNamed(result)).reduce((sum, count) => sum + count, 0);
  return named || result.input_summary.frames;
}

/** Evaluation of a result for a single image of a known plane. */
export interface Screen {
  layout: string;
  shown: string;
  /** Whether the plane was identified correctly. The axial head planes count as one plane. */
  name: 'right' | 'wrong' | 'unnamed';
  /** Accepted length of the structure; null if nothing was measured or if there is no reference. */
  length: { key: string; measuredMm: number; referenceMm: number } | null;
  accepted: boolean;
}

const organ = (plane: string) => (HEAD_PLANES.some((head) => head === plane) ? 'head' : plane);

const LENGTH_OF: Readonly<Record<string, string>> = { head: 'hc', abdominal: 'ac', femur: 'fl' };

export function screenOf(
  result: Pick<Result, 'sections' | 'measurements'>,
  shown: string | null,
  referenceMm: number | null,
  layout: string,
): Screen {
  const names = Object.keys(countNamed(result)).filter((name) => name !== 'other');
  const own = organ(shown ?? '');
  const right = names.length > 0 && names.every((name) => organ(name) === own);
  const key = LENGTH_OF[own];
  const value = result.measurements.find(
    (one) => one.concept.key === key && one.quality === 'accepted',
  );
  return {
    layout,
    shown: own,
    name: right ? 'right' : names.length > 0 ? 'wrong' : 'unnamed',
    accepted: value !== undefined,
    length:
      key && value && referenceMm !== null && Number.isFinite(referenceMm)
        ? { key, measuredMm: value.value, referenceMm }
        : null,
  };
}

/**
 * Counts right, wrong and missing plane labels, and summarises the errors of the accepted lengths.
 * Does this for all screens together, by plane, and by layout.
 */
export function countScreens(screens: readonly Screen[]) {
  const of = (own: readonly Screen[]) => {
    const count = (name: Screen['name']) => own.filter((one) => one.name === name).length;
    const lengths = own.flatMap(({ length }) => length ?? []);
    const errors = lengths.map((one) => one.measuredMm - one.referenceMm);
    const shares = lengths.map((one) => Math.abs(one.measuredMm / one.referenceMm - 1));
    return {
      images: own.length,
      right: count('right'),
      unnamed: count('unnamed'),
      wrong: count('wrong'),
      accepted: own.filter(({ accepted }) => accepted).length,
      compared: lengths.length,
      ...(lengths.length > 0 && {
        meanAbsoluteErrorMm: round(mean(errors.map(Math.abs)), 2),
        meanAbsoluteErrorPercent: round(100 * mean(shares), 2),
        biasMm: round(mean(errors), 2),
        largestErrorPercent: round(100 * Math.max(...shares), 1),
      }),
    };
  };
  const by = (key: (one: Screen) => string) =>
    Object.fromEntries([...Map.groupBy(screens, key)].map(([name, own]) => [name, of(own)]));
  return {
    all: of(screens),
    byPlane: by(({ shown }) => shown),
    byLayout: by(({ layout }) => layout),
  };
}
