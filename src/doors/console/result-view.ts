import type { Measurement, Result } from '../../../pipelines/result/envelope.ts';
import type { Measured, MeasurementRow, ResultView } from './result-contract.ts';

/**
 * How values and objects are put into words, and which values count; provided by the parts that
 * define them.
 */
export interface Wording {
  /** Decimals of a quantity. */
  decimals(concept: string): number;
  /** The number of a value as text, rounded to its decimals, but never across a cut-off. */
  number(measurement: Measurement): string;
  /** Short name of a quantity: `EFW`. */
  abbreviation(concept: string): string;
  /** A UCUM unit as a person reads it. */
  unit(ucum: string): string;
  /** A gestational age in days as completed weeks and days: `31+4`. */
  weeks(days: number): string;
  /** A centile and a z-score as a person reads them. */
  centile(centile: number): string;
  zScore(z: number): string;
  /** How a quantity was measured or calculated; a text that is not a known key stays as it is. */
  method(key: string): string;
  /** Why a value was not accepted; null for an accepted value. */
  doubt(measurement: Measurement): string | null;
  /** Name of a reference chart; a text that is not a known key stays as it is. */
  chart(key: string): string;
  /** The values that count for their quantity, as in the PDF: without repeats and comparisons. */
  standing(measurements: readonly Measurement[]): readonly Measurement[];
  /** Name of a storage SOP class; the UID where it has none here. */
  sopClass(uid: string): string;
  /** What an image shows, by the id that the result has for it; views of the heart are names already. */
  views: Readonly<Record<string, string>>;
  /** Name of the nth object of a study in its requests and results. */
  fileName(ordinal: number): string;
}

interface ViewParts {
  requestId: string;
  result: Result;
  gestationalAge: ResultView['gestationalAge'];
  prior: { requestId: string; daysBefore: number; result: Result } | null;
  wording: Wording;
}

/** The result as the console shows it. Pure; nothing is measured or concluded here. */
export function viewResult({
  requestId,
  result,
  gestationalAge,
  prior,
  wording,
}: ViewParts): ResultView {
  return {
    requestId,
    endpoint: result.endpoint,
    version: result.version,
    generatedAt: result.generated_at,
    draft: result.draft,
    models: result.models.map(({ id, version, licence, pack, provider }) => ({
      id,
      version,
      licence,
      pack,
      provider,
    })),
    input: {
      files: result.input_summary.files,
      clips: result.input_summary.clips,
      frames: result.input_summary.frames,
      calibratedFrames: result.input_summary.calibrated_frames,
      modes: result.input_summary.modes,
      refused: result.input_summary.refused,
      priors: result.input_summary.priors,
    },
    sections: result.sections,
    findings: result.findings.map(({ id, section, text, severity, confidence, evidence }) => ({
      id,
      section,
      text,
      severity,
      confidence,
      evidence,
    })),
    measurements: measurementRows(result.measurements, prior?.result.measurements ?? [], wording),
    scores: result.scores.map(({ concept: _, ...score }) => score),
    classifications: result.classifications.map(({ concept: _, ...rest }) => rest),
    guidance: result.guidance,
    report: result.report && {
      title: result.report.title,
      findings: result.report.findings,
      impression: result.report.impression,
      limitations: result.report.limitations,
    },
    gestationalAge,
    viewNames: wording.views,
    artifacts: result.artifacts.map(({ name, media_type, bytes, section }) => ({
      name,
      mediaType: media_type,
      bytes,
      section,
    })),
    prior: prior && { requestId: prior.requestId, daysBefore: prior.daysBefore },
  };
}

/** The unit of gestational ages. No other measured quantity has it. */
const AGE_UNIT = 'd';

/** A value as a person reads it: a gestational age in weeks, any other as its number. */
export function valueText(measurement: Measurement, { number, weeks }: Wording): string {
  return measurement.unit === AGE_UNIT ? weeks(measurement.value) : number(measurement);
}

/** The unit of `valueText`. */
export const unitOf = ({ unit }: Measurement, wording: Wording): string =>
  unit === AGE_UNIT ? 'weeks' : wording.unit(unit);

/**
 * One row for each quantity at each place, in the order in which they first appear in the result.
 */
export function measurementRows(
  measurements: readonly Measurement[],
  prior: readonly Measurement[],
  wording: Wording,
): MeasurementRow[] {
  const ours = chosenFrom(measurements.filter(isOurs), wording);
  const carts = chosenFrom(measurements.filter(isOf('cart-sr')), wording);
  const givens = chosenFrom(measurements.filter(isOf('input')), wording);
  const accepted = prior.filter(({ quality }) => quality === 'accepted');
  const before = chosenFrom(accepted, wording);
  return [...Map.groupBy(measurements, placeOf)].map(([id, of]) => {
    const [first] = of as [Measurement, ...Measurement[]];
    const decimals = wording.decimals(first.concept.key);
    const show = (measurement: Measurement | undefined) =>
      measurement ? measured(measurement, wording) : null;
    const [model, cart, given] = [ours.get(id), carts.get(id), givens.get(id)];
    const shown = new Set([model, cart, given]);
    const earlier = before.get(id);
    return {
      id,
      concept: first.concept.key,
      label: first.label,
      unit: first.unit,
      unitText: unitOf(first, wording),
      decimals,
      section: first.section,
      site: first.site,
      laterality: first.laterality,
      fetus: first.fetus,
      phase: first.phase,
      model: show(model),
      cart: show(cart),
      given: show(given),
      more: of.filter((one) => !shown.has(one)).map((one) => measured(one, wording)),
      prior: earlier ? { value: earlier.value, text: valueText(earlier, wording) } : null,
    };
  });
}

const isOf =
  (...provenances: Measurement['source']['provenance'][]) =>
  ({ source }: Measurement): boolean =>
    provenances.includes(source.provenance);

const isOurs = isOf('model', 'image-analysis');

const placeOf = ({ concept, site, laterality, fetus, phase }: Measurement): string =>
  [concept.key, site, laterality, fetus, phase].map((part) => part ?? '').join('/');

/**
 * Chooses the value of a place: a value that counts, and among these an accepted one before the
 * others.
 */
function chosenFrom(
  values: readonly Measurement[],
  wording: Wording,
): ReadonlyMap<string, Measurement> {
  const standing = new Set(wording.standing(values));
  return new Map(
    [...Map.groupBy(values, placeOf)].map(([place, of]) => {
      const those = of.filter((one) => standing.has(one));
      const [first, ...rest] = (those.length > 0 ? those : of) as [Measurement, ...Measurement[]];
      return [place, [first, ...rest].find(({ quality }) => quality === 'accepted') ?? first];
    }),
  );
}

function measured(measurement: Measurement, wording: Wording): Measured {
  const { reference, source } = measurement;
  return {
    id: measurement.id,
    value: measurement.value,
    text: valueText(measurement, wording),
    provenance: source.provenance,
    derivation: measurement.derivation,
    method: wording.method(measurement.method),
    confidence: measurement.confidence,
    uncertainty: measurement.uncertainty,
    quality: measurement.quality,
    doubt: wording.doubt(measurement),
    reference: reference && {
      low: reference.low,
      high: reference.high,
      centile: reference.centile === null ? null : wording.centile(reference.centile),
      zScore: reference.z_score === null ? null : wording.zScore(reference.z_score),
      chart: wording.chart(reference.chart),
    },
    interpretation: measurement.interpretation,
    file: source.file,
    frame: source.frame,
    note: measurement.note,
  };
}
