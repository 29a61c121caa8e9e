import type { Measurement, Result } from '../../pipelines/result/envelope.ts';

/** A statement about a structure that the image does not show. */
export interface Crossed {
  /** The structure of the biometry that the statement is about, otherwise the section. */
  part: string;
  said: string;
}

const HEAD = ['head', 'biometry', 'growth', 'anomaly-screen'];

/**
 * The structures that may be measured on an image of each known plane. On any other plane, nothing
 * may be measured.
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
 * Returns the statements of a result about structures that its single image does not show: accepted
 * values measured on the pixels, findings, categories and scores. `plane` is the plane that the
 * image shows; null when it shows no part of a fetus.
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
    ...classifications.map(({ section, name, value }) => ({
      part: section,
      said: `${name} ${value}`,
    })),
    ...scores.map(({ section, name }) => ({ part: section, said: name })),
  ];
  // The name of the plane is not a measurement, and a wrong name alone has no consequence.
  return [...values, ...others].filter(({ part }) => part !== 'planes' && !shown.includes(part));
}

/** How many images have any such statement, and how many for each part. */
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
