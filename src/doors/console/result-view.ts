import type { Measurement, Result } from '../../../pipelines/result/envelope.ts';
import { categoryText, criterionText } from '../../../pipelines/result/render/categories.ts';
import { conclusionTexts } from '../../../pipelines/result/render/conclusion.ts';
import { decimalsOf } from '../../../pipelines/result/render/number-text.ts';
import { basisText } from '../../../pipelines/result/render/obstetric/shared.ts';
import {
  doubtOf,
  remainingReason,
  researchNotice,
} from '../../../pipelines/result/render/statement.ts';
import { centileText, zScoreText } from '../../../pipelines/result/render/unit-text.ts';
import { countingValues, INTERMEDIATE } from '../../../pipelines/result/standing.ts';
import { keyValuesOf } from './key-values.ts';
import type { Measured, MeasurementRow, ResultView } from './result-contract.ts';
import { chartName, methodText, type StatedAge, unitOf, VIEW_NAMES, valueText } from './wording.ts';

interface ViewParts {
  requestId: string;
  result: Result;
  gestationalAge: StatedAge | null;
  prior: { requestId: string; daysBefore: number; result: Result } | null;
}

/** Converts the result to the console's form. Measures and concludes nothing itself. */
export function viewResult({ requestId, result, gestationalAge, prior }: ViewParts): ResultView {
  return {
    requestId,
    endpoint: result.endpoint,
    version: result.version,
    draft: result.draft,
    researchNotice: researchNotice(result),
    models: result.models.map(({ id, version, licence, pack, provider }) => ({
      id,
      version,
      licence,
      pack,
      provider,
    })),
    sections: result.sections
      .toSorted(intermediateLast)
      .map((section) => shownSection(section, result)),
    findings: result.findings.map(({ id, section, text, severity }) => ({
      id,
      section,
      text,
      severity,
    })),
    measurements: measurementRows(result.measurements, prior?.result.measurements ?? []),
    impression: conclusionTexts(result),
    keyValues: keyValuesOf(result),
    scores: result.scores.map(({ concept: _, ...score }) => score),
    classifications: classificationsOf(result),
    guidance: result.guidance,
    report: result.report && {
      title: result.report.title,
      findings: result.report.findings,
      limitations: result.report.limitations,
    },
    gestationalAge: gestationalAge && {
      days: gestationalAge.days,
      basis: basisText(gestationalAge.basis),
    },
    viewNames: VIEW_NAMES,
    sides: sidesOf(result.measurements),
    artifacts: result.artifacts.map(({ name, bytes, section }) => ({ name, bytes, section })),
    prior: prior && { requestId: prior.requestId, daysBefore: prior.daysBefore },
  };
}

/** Compares sections so that those whose values are only inputs to other values come last. */
const intermediateLast = (one: { id: string }, other: { id: string }): number =>
  Number(INTERMEDIATE.has(one.id)) - Number(INTERMEDIATE.has(other.id));

/** Omits from the detail of a reason what the section's summary already states. */
function shownSection(
  section: Result['sections'][number],
  result: Result,
): ResultView['sections'][number] {
  const { statements: _, reason, ...rest } = section;
  return { ...rest, reason: reason && { ...reason, detail: remainingReason(section, result) } };
}

/**
 * This classification is not listed. It is shown with the images instead, where a person sees which
 * image it describes.
 */
const SHOWN_WITH_IMAGES = 'standard-plane';

function classificationsOf({ classifications }: Result) {
  return classifications
    .filter(({ concept }) => concept?.key !== SHOWN_WITH_IMAGES)
    .map(({ concept, criteria, ...rest }) => ({
      ...rest,
      value: categoryText(concept?.key ?? null, rest.value),
      scheme: chartName(rest.scheme),
      criteria: criteria.map((one) => ({ name: one.name, text: criterionText(one), met: one.met })),
    }));
}

/**
 * Returns the vessel's side in each image, by file. An image with values from both sides is
 * omitted.
 */
function sidesOf(measurements: readonly Measurement[]): ResultView['sides'] {
  const onImages = measurements.filter(({ source }) => source.file !== null);
  const byFile = Map.groupBy(onImages, ({ source }) => source.file ?? '');
  return Object.fromEntries(
    [...byFile].flatMap(([file, of]) => {
      const [side, ...others] = new Set(of.map(({ laterality }) => laterality));
      return side && others.length === 0 ? [[file, side] as const] : [];
    }),
  );
}

/**
 * Returns one row for each quantity at each place, in the order in which they first appear in the
 * result.
 */
export function measurementRows(
  measurements: readonly Measurement[],
  prior: readonly Measurement[],
): MeasurementRow[] {
  const ours = chosenFrom(measurements.filter(isOursOrCorrected));
  const carts = chosenFrom(measurements.filter(isOf('cart-sr')));
  const givens = chosenFrom(measurements.filter(isOf('input')));
  const accepted = prior.filter(({ quality }) => quality === 'accepted');
  const before = chosenFrom(accepted);
  return [...Map.groupBy(measurements, placeOf)].map(([id, of]) => {
    const [first] = of as [Measurement, ...Measurement[]];
    const decimals = decimalsOf(first.concept.key);
    const show = (measurement: Measurement | undefined) =>
      measurement ? measured(measurement) : null;
    const [model, cart, given] = [ours.get(id), carts.get(id), givens.get(id)];
    const shown = new Set([model, cart, given]);
    const earlier = before.get(id);
    return {
      id,
      concept: first.concept.key,
      label: first.label,
      unit: first.unit,
      unitText: unitOf(first),
      decimals,
      section: first.section,
      site: first.site,
      laterality: first.laterality,
      fetus: first.fetus,
      phase: first.phase,
      model: show(model),
      cart: show(cart),
      given: show(given),
      more: of.filter((one) => !shown.has(one)).map(measured),
      prior: earlier ? { value: earlier.value, text: valueText(earlier) } : null,
    };
  });
}

const isOf =
  (...provenances: Measurement['source']['provenance'][]) =>
  ({ source }: Measurement): boolean =>
    provenances.includes(source.provenance);

/** The first column also shows values by which a person replaced ours. */
const isOursOrCorrected = isOf('model', 'image-analysis', 'person');

const placeOf = ({ concept, site, laterality, fetus, phase }: Measurement): string =>
  [concept.key, site, laterality, fetus, phase].map((part) => part ?? '').join('/');

/**
 * Chooses one value for each place: values that count come first and, among these, accepted ones.
 */
function chosenFrom(values: readonly Measurement[]): ReadonlyMap<string, Measurement> {
  const standing = new Set(countingValues(values));
  return new Map(
    [...Map.groupBy(values, placeOf)].map(([place, of]) => {
      const those = of.filter((one) => standing.has(one));
      const [first, ...rest] = (those.length > 0 ? those : of) as [Measurement, ...Measurement[]];
      return [place, [first, ...rest].find(({ quality }) => quality === 'accepted') ?? first];
    }),
  );
}

function measured(measurement: Measurement): Measured {
  const { reference, source } = measurement;
  return {
    id: measurement.id,
    value: measurement.value,
    text: valueText(measurement),
    provenance: source.provenance,
    derivation: measurement.derivation,
    method: methodText(measurement.method),
    uncertainty: measurement.uncertainty,
    quality: measurement.quality,
    doubt: doubtOf(measurement),
    reference: reference && {
      low: reference.low,
      high: reference.high,
      centile: reference.centile === null ? null : centileText(reference.centile),
      zScore: reference.z_score === null ? null : zScoreText(reference.z_score),
      chart: chartName(reference.chart),
    },
    interpretation: measurement.interpretation,
    file: source.file,
    frame: source.frame,
    note: measurement.note,
  };
}
