import type { CalibratedRegion } from '../contract/study.ts';
import { median } from '../measure/statistics.ts';
import type { ConceptKey } from '../result/concepts.ts';
import type { Measurement } from '../result/envelope.ts';
import { measuredOn } from '../result/source.ts';
import { BPD_PLANES, MEASURING_PLANES } from './key-frames.ts';
import { type Length, lengthsOf } from './lengths.ts';
import type { Plane } from './locator.ts';
import { createMeasurement, format, NO_FRAME } from './measurement.ts';
import { excludedBy } from './plane-quality.ts';
import { implausibleNote, isPlausible, LOWEST_AXIS_RATIO } from './plausibility.ts';
import type { FrameReading, ObstetricEvidence, Structure } from './section.ts';

/** "Median of up to three frames each" (service.md 2.6). */
const FRAMES_PER_MEASUREMENT = 3;

/** Of the head by the plane that is the last choice for it, as a note and a sentence say it. */
export const LAST_RESORT = 'measured on the transcerebellar plane, as no better one was found';

/** Whether a value is of a plane that only stands in for the one it belongs on. */
export const isOfLastResort = ({ note }: Measurement) => note?.includes(LAST_RESORT) ?? false;

/** A scale that no image states is said (obstetric reference 0.4). */
const USER_SCALE_NOTE = 'in the scale given with the request, which the image does not state';

function planeNote(key: ConceptKey, plane: Plane): string | null {
  if (plane === 'transcerebellar') return LAST_RESORT;
  return plane === 'transventricular' && key === 'bpd'
    ? 'measured on the transventricular plane; BPD belongs on the transthalamic'
    : null;
}

/** What was located, and how sure the models are of it. */
type Measured = Pick<ObstetricEvidence, 'readings' | 'uncertainty'>;

const ABDOMEN_AXES_NOTE =
  'the axis along the beam was taken for the transverse one; the spine was not located';

interface Read {
  reading: FrameReading;
  length: Length;
  note: string | null;
  calibration: CalibratedRegion['source'];
  /** Why the frame is not the plane of the structure; null where it may be. */
  excluded: string | null;
  /** Why nothing of this outline or line is used; null when it is plausible. */
  implausible: string | null;
}

/** Half width of the 95 % interval, mm. What is outlined errs the more the larger it is. */
function uncertaintyOf({ key, mm }: Length, { uncertainty }: Measured): number | null {
  const { hcPercent, acPercent, flMm } = uncertainty;
  if (key === 'fl') return flMm;
  const percent = key === 'hc' ? hcPercent : key === 'ac' ? acPercent : null;
  return percent === null ? null : (percent / 100) * mm;
}

function notesOf(key: ConceptKey, { reading, note, calibration, excluded }: Read): string[] {
  return [
    note,
    excluded === null ? planeNote(key, reading.estimate.label) : `not used: ${excluded}`,
    calibration === 'user' ? USER_SCALE_NOTE : null,
    key === 'tad' || key === 'apad' ? ABDOMEN_AXES_NOTE : null,
  ].filter((text) => typeof text === 'string');
}

/** One implausible length makes the whole outline doubtful: what was outlined is something else. */
function implausibility(structure: Structure, lengths: readonly Length[]): string | null {
  const outside = lengths.find(({ key, mm }) => !isPlausible(key, mm));
  if (outside) return implausibleNote(outside.key);
  const [, one, other] = lengths;
  if (structure === 'femur' || !one || !other) return null;
  const ratio = Math.min(one.mm, other.mm) / Math.max(one.mm, other.mm);
  return ratio < LOWEST_AXIS_RATIO[structure]
    ? `implausible: not the shape of a fetal ${structure}`
    : null;
}

function fromFrame(id: string, read: Read, evidence: Measured): Measurement {
  const { reading, length } = read;
  const { clip, frame, located } = reading;
  const { key } = length;
  const { implausible, excluded } = read;
  const usable = located?.accepted && excluded === null;
  const notes = [...notesOf(key, read), ...(implausible ? [implausible] : [])];
  return createMeasurement(id, key, length.mm, length.method, {
    derivation: 'measured',
    source: measuredOn(clip, frame.index, 'model', [length.caliper]),
    confidence: located?.confidence ?? null,
    uncertainty: uncertaintyOf(length, evidence),
    quality: implausible ? 'inadequate' : usable ? 'accepted' : 'low',
    note: notes.join('; ') || null,
  });
}

/** The median of the accepted values; of a single value, the value itself under the plain id. */
function withMedian(key: ConceptKey, single: readonly Measurement[]): Measurement[] {
  const accepted = single.filter(({ quality }) => quality === 'accepted');
  const [first] = accepted;
  if (!first) return [...single];
  if (accepted.length === 1) {
    return single.map((one) => (one === first ? { ...one, id: key } : one));
  }
  const values = accepted.map(({ value }) => value);
  const spread = `${accepted.length} frames, ${format(key, Math.min(...values))} to ${format(key, Math.max(...values))}`;
  const notes = new Set([spread, ...accepted.flatMap(({ note }) => note ?? [])]);
  const combined: Measurement = {
    ...first,
    id: key,
    value: median(values),
    derivation: 'median',
    source: NO_FRAME,
    confidence: median(accepted.map(({ confidence }) => confidence ?? 0)),
    inputs: accepted.map(({ id }) => id),
    note: [...notes].join('; ') || null,
  };
  return [...single, combined];
}

/**
 * The readings that are measured: of the first tier of planes with accepted ones, up to three; where
 * none is accepted, up to three that are named and not used.
 */
function measuredReadings(
  structure: Structure,
  key: ConceptKey,
  readings: readonly Read[],
): Read[] {
  const accepted = readings.filter(
    ({ reading, implausible, excluded }) =>
      reading.located?.accepted && !implausible && excluded === null,
  );
  const wanted = key === 'bpd' ? BPD_PLANES : MEASURING_PLANES[structure];
  const tiers = wanted.map((planes) =>
    accepted.filter(({ reading }) => planes.includes(reading.estimate.label)),
  );
  const chosen = tiers.find((tier) => tier.length > 0) ?? readings;
  return chosen.slice(0, FRAMES_PER_MEASUREMENT);
}

/** Every length of a structure on each of its frames, `hc-1` to `hc-3`. */
function measureFrames(structure: Structure, evidence: Measured): Map<ConceptKey, Measurement[]> {
  const reads = evidence.readings
    .filter((reading) => reading.structure === structure)
    .flatMap((reading) => {
      const read = lengthsOf(reading);
      return read ? [{ reading, ...read }] : [];
    });
  const byKey = new Map<ConceptKey, Read[]>();
  for (const { reading, lengths, note, calibration } of reads) {
    const excluded = excludedBy(reading);
    const implausible = implausibility(structure, lengths);
    for (const length of lengths) {
      const before = byKey.get(length.key) ?? [];
      const read = { reading, length, note, calibration, excluded, implausible };
      byKey.set(length.key, [...before, read]);
    }
  }
  return new Map(
    [...byKey].map(([key, read]) => [
      key,
      measuredReadings(structure, key, read).map((one, index) =>
        fromFrame(`${key}-${index + 1}`, one, evidence),
      ),
    ]),
  );
}

/**
 * Every length of a structure: one measurement per frame (`hc-1` to `hc-3`) and their median under
 * the plain id (`hc`), or the only one under the plain id.
 */
export function measureStructure(structure: Structure, evidence: Measured): Measurement[] {
  return [...measureFrames(structure, evidence)].flatMap(([key, single]) =>
    withMedian(key, single),
  );
}

/** The same of frames that may show different fetuses: each length by itself, and none stands. */
export function measureApart(structure: Structure, evidence: Measured): Measurement[] {
  return [...measureFrames(structure, evidence).values()].flat();
}
