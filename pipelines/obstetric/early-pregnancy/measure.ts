import type { ObstetricConcept, ObstetricMethod } from '../../concepts/obstetric.ts';
import type { Point } from '../../contract/image.ts';
import { scaleFor } from '../../contract/study.ts';
import { axisEnds, distance } from '../../measure/ellipse.ts';
import type { Measurement } from '../../result/envelope.ts';
import { isConfirmed, isOfMachine, lineBetween, measuredOn } from '../../result/measured.ts';
import { isPlausible } from '../../result/obstetric/limits.ts';
import { remarkOfEarly } from '../../result/render/obstetric/early-pregnancy.ts';
import { remark } from '../../result/render/obstetric/shared.ts';
import type { Remark } from '../../result/statement.ts';
import {
  createMeasurement,
  judgedValue,
  withDifference,
  withMedian,
} from '../shared/measurement.ts';
import type { EarlyClip, EarlyFrame } from './evidence.ts';
import { DATING_CRL, meanSacDiameter, nybergAge, robinson1975Age } from './guideline.ts';

/**
 * Half widths of 95 % intervals in mm, measured on 39 phantoms not used in development; see
 * docs/early-pregnancy.md.
 */
export const EARLY_UNCERTAINTY = { sac: 2.5, yolkSac: 1, crl: 4.5 } as const;

export const EARLY_SECTION = 'early-pregnancy';

function measured(
  id: string,
  key: ObstetricConcept,
  method: ObstetricMethod,
  { clip, frame }: EarlyFrame,
  ends: readonly [Point, Point],
  given: { confidence: number; uncertainty: number },
): Measurement | null {
  const scale = scaleFor(clip, ends)?.scale;
  if (!scale) return null;
  const value = distance(ends[0], ends[1], scale);
  const plausible = isPlausible(key, value);
  return createMeasurement(key, value, method, {
    id,
    section: EARLY_SECTION,
    derivation: 'measured',
    source: measuredOn(clip, frame.index, 'image-analysis', [lineBetween(...ends)]),
    ...given,
    quality: plausible ? 'accepted' : 'inadequate',
    remarks: [
      remark('method.simulated-only', {}),
      ...(plausible ? [] : [remark('obstetric.implausible', {})]),
    ],
  });
}

/** A section through a sac, with its axes in pixels and the length of the second one in mm. */
interface SacSection {
  frame: EarlyFrame;
  confidence: number;
  /** The axis closer to horizontal on the screen. */
  across: [Point, Point];
  /** The axis closer to the beam. */
  down: [Point, Point];
  heightMm: number;
}

function sacSections(frames: readonly EarlyFrame[]): SacSection[] {
  return frames
    .flatMap((frame): SacSection[] => {
      const { sac, clip } = frame;
      if (!sac?.accepted) return [];
      const [a1, a2, b1, b2] = axisEnds(sac.ellipse);
      const flat = Math.abs(a2.x - a1.x) >= Math.abs(a2.y - a1.y);
      const across: [Point, Point] = flat ? [a1, a2] : [b1, b2];
      const down: [Point, Point] = flat ? [b1, b2] : [a1, a2];
      const scale = scaleFor(clip, down)?.scale;
      if (!scale) return [];
      const { confidence } = sac;
      return [{ frame, confidence, across, down, heightMm: distance(...down, scale) }];
    })
    .toSorted((one, other) => other.confidence - one.confidence);
}

interface SacPlanes {
  along: SacSection | null;
  across: SacSection | null;
}

/**
 * Returns the image along the uterus and the one across it that agree best on the height of the
 * sac, which both show. Null if the heights differ by more than the uncertainty of both, or if an
 * image of one of the planes is missing. If the heights differ, at least one plane missed the middle
 * of the sac and shows its diameters too small, so the diameters must not be combined.
 */
function fittingPlanes(
  along: readonly SacSection[],
  across: readonly SacSection[],
): SacPlanes | null {
  const apart = (one: SacSection, other: SacSection) => Math.abs(one.heightMm - other.heightMm);
  const pairs = along
    .flatMap((one) => across.map((other) => ({ along: one, across: other })))
    .filter((pair) => apart(pair.along, pair.across) <= 2 * EARLY_UNCERTAINTY.sac)
    .toSorted((one, other) => apart(one.along, one.across) - apart(other.along, other.across));
  return pairs[0] ?? null;
}

/**
 * Measures the length and height of the sac on the plane along the uterus, and its width on the
 * transverse plane. If no image whose plane is stated shows a sac, only length and height are
 * measured, on an image of unknown plane. `fit` is true if the diameters of both planes may be
 * combined.
 */
function sacDiameters(clips: readonly EarlyClip[]): { diameters: Measurement[]; fit: boolean } {
  const on = (plane: EarlyClip['plane']) =>
    sacSections(clips.flatMap((one) => (one.plane === plane ? one.frames : [])));
  const [sagittal, transverse] = [on('sagittal'), on('transverse')];
  const fitting = fittingPlanes(sagittal, transverse);
  const { along, across } = fitting ?? {
    along: sagittal[0] ?? (transverse.length > 0 ? null : (on(null)[0] ?? null)),
    across: transverse[0] ?? null,
  };
  const one = (
    key: 'sac-length' | 'sac-height' | 'sac-width',
    section: SacSection | null,
    side: 'across' | 'down',
  ) => {
    if (!section) return [];
    const { frame, confidence } = section;
    const given = { confidence, uncertainty: EARLY_UNCERTAINTY.sac };
    return measured(key, key, 'sac-inner-inner', frame, section[side], given) ?? [];
  };
  const diameters = [
    one('sac-length', along, 'across'),
    one('sac-height', along ?? across, 'down'),
    one('sac-width', across, 'across'),
  ].flat();
  return { diameters, fit: fitting !== null };
}

function meanDiameter(diameters: readonly Measurement[]): Measurement[] {
  const [length, height, width] = diameters.filter(({ quality }) => quality === 'accepted');
  if (!length || !height || !width) return [];
  const value = meanSacDiameter(length.value, width.value, height.value);
  const inputs = [length, height, width];
  return [
    createMeasurement('mean-sac-diameter', value, 'msd-three-diameters', {
      section: EARLY_SECTION,
      derivation: 'mean',
      inputs: inputs.map(({ id }) => id),
      confidence: Math.min(...inputs.map(({ confidence }) => confidence ?? 0)),
      uncertainty: EARLY_UNCERTAINTY.sac,
      quality: isPlausible('mean-sac-diameter', value) ? 'accepted' : 'inadequate',
      remarks: [remark('method.simulated-only', {})],
    }),
  ];
}

function yolkSacs(clips: readonly EarlyClip[]): Measurement[] {
  const seen = clips
    .flatMap(({ frames }) => frames)
    .filter(({ contents }) => contents?.yolkSac)
    .toSorted(
      (one, other) =>
        (other.contents?.yolkSac?.confidence ?? 0) - (one.contents?.yolkSac?.confidence ?? 0),
    )[0];
  const yolkSac = seen?.contents?.yolkSac;
  if (!seen || !yolkSac) return [];
  const { centre, radius, confidence } = yolkSac;
  const ends: [Point, Point] = [
    { x: centre.x - radius, y: centre.y },
    { x: centre.x + radius, y: centre.y },
  ];
  const given = { confidence, uncertainty: EARLY_UNCERTAINTY.yolkSac };
  return [measured('yolk-sac', 'yolk-sac', 'yolk-sac-inner-inner', seen, ends, given) ?? []].flat();
}

function crownRumpLengths(clips: readonly EarlyClip[]): Measurement[] {
  return clips
    .flatMap(({ plane, frames }) => (plane === 'transverse' ? [] : frames))
    .flatMap((frame) => {
      const embryo = frame.contents?.embryo;
      if (!embryo || !frame.sac) return [];
      const confidence = frame.sac.confidence * embryo.confidence;
      const given = { confidence, uncertainty: EARLY_UNCERTAINTY.crl };
      return measured('crl', 'crl', 'crl-longest', frame, embryo.ends, given) ?? [];
    })
    .toSorted((one, other) => Number(isAccepted(other)) - Number(isAccepted(one)))
    .map((one, index) => ({ ...one, id: `crl-${index + 1}` }));
}

const isAccepted = ({ quality }: Measurement) => quality === 'accepted';

/**
 * Rejects a length if its uncertainty interval overlaps those of fewer than half of the other
 * plausible lengths. A plane that is not along the embryo shows only part of it, and if two lengths
 * disagree, there is no way to tell which one is complete. Lengths that a person confirmed are
 * kept. Lengths that a person rejected still count in the comparison.
 */
function withoutContradicted(lengths: readonly Measurement[]): Measurement[] {
  const plausible = lengths.filter(({ value }) => isPlausible('crl', value));
  return lengths.map((one) => {
    if (!isAccepted(one) || isConfirmed(one)) return one;
    const agreeing = plausible.filter(
      ({ value }) => Math.abs(value - one.value) <= 2 * EARLY_UNCERTAINTY.crl,
    );
    if (2 * (agreeing.length - 1) >= plausible.length - 1) return one;
    const remarks = [...one.remarks, remarkOfEarly('early.crl-contradicted', {})];
    return { ...one, quality: 'inadequate', remarks };
  });
}

/** Maximum number of CRL values used for the median (obstetric 5.1). */
const CRL_REPEATS = 3;

function remarksOnAge(crl: Measurement): Remark[] {
  if (isOfMachine(crl)) return [remarkOfEarly('early.crl-of-machine', {})];
  return crl.origin === 'person' ? [] : [remark('method.simulated-only', {})];
}

/**
 * Returns the age by CRL if the CRL is within the range of its equation. The age by sac is used
 * only if there is no CRL.
 */
function ageOf(crl: Measurement | null, msd: Measurement | null): Measurement[] {
  const given = { section: EARLY_SECTION };
  if (crl && crl.value >= DATING_CRL.from && crl.value <= DATING_CRL.to) {
    const days = robinson1975Age(crl.value);
    return [
      createMeasurement('ga-by-crl', days, 'robinson-1975-ga-crl', {
        ...given,
        inputs: [crl.id],
        remarks: remarksOnAge(crl),
      }),
    ];
  }
  const days = !crl && msd ? nybergAge(msd.value) : null;
  if (days === null || !msd) return [];
  return [
    createMeasurement('ga-by-sac', days, 'nyberg-ga-msd', {
      ...given,
      inputs: [msd.id],
      uncertainty: 7,
      remarks: [remarkOfEarly('early.low-precision', {})],
    }),
  ];
}

function heartRates(clips: readonly EarlyClip[]): Measurement[] {
  return clips.flatMap(({ clip, cardiac }) => {
    if (cardiac?.status !== 'beating') return [];
    const { beatsPerMinute, uncertainty, strength } = cardiac;
    return createMeasurement('fetal-heart-rate', beatsPerMinute, 'cine-periodicity', {
      id: 'embryonic-heart-rate',
      section: EARLY_SECTION,
      derivation: 'measured',
      source: measuredOn(clip, null, 'image-analysis'),
      confidence: Math.min(1, strength),
      uncertainty,
      quality: isPlausible('fetal-heart-rate', beatsPerMinute) ? 'accepted' : 'inadequate',
      remarks: [remark('method.simulated-only', {})],
    });
  });
}

/**
 * Returns all measurements of an early pregnancy, machine values first. The age is based on the
 * machine's CRL or sac diameter if there is one.
 */
export function measureEarlyPregnancy(
  clips: readonly EarlyClip[],
  machine: readonly Measurement[],
): Measurement[] {
  const { diameters, fit } = sacDiameters(clips);
  const ours = [
    ...diameters,
    ...(fit ? meanDiameter(diameters) : []),
    ...yolkSacs(clips),
    ...withMedian('crl', withoutContradicted(crownRumpLengths(clips).slice(0, CRL_REPEATS))),
  ];
  const lengths = [...withDifference(machine, ours), ...ours];
  return [
    ...lengths,
    ...ageOf(judgedValue(lengths, 'crl'), judgedValue(lengths, 'mean-sac-diameter')),
    ...heartRates(clips).slice(0, 1),
  ];
}

/**
 * Returns every length and rate separately, because there are several embryos. Values are not
 * combined, and there is no age.
 */
export function measureEmbryosApart(clips: readonly EarlyClip[]): Measurement[] {
  const rates = heartRates(clips).map((one, index) => ({ ...one, id: `${one.id}-${index + 1}` }));
  return [...crownRumpLengths(clips), ...rates];
}
