import type { EchoConcept } from '../../concepts/echo.ts';
import type { Measurement } from '../../result/envelope.ts';
import { measuredOn } from '../../result/measured.ts';
import { createMeasurement } from '../../result/measurement.ts';
import { type DisplayDoubt, remarkOfEcho } from '../../result/render/echo/shared.ts';
import type { Remark } from '../../result/statement.ts';
import { ADVISED_BEATS } from '../chambers/gaps.ts';
import { withPlausibility } from '../shared/plausibility.ts';
import type { DisplayReading, TracedQuantity } from './reading.ts';

const TRACED = {
  /** A single beat has no second beat that could confirm it. */
  leastBeats: 2,
  /** Traces with a lower confidence are shown but not used. */
  confidence: 0.5,
  /**
   * Below this confidence, identifying a flow by its form is a guess, and the value is not used.
   */
  nameConfidence: 0.7,
} as const;

/**
 * Sections that report the values of unidentified structures. No section lists these values in its
 * `measures`.
 */
const SECTION_OF: Readonly<Partial<Record<EchoConcept, string>>> = {
  's-prime-unnamed': 'diastolic',
  'e-prime-unnamed': 'diastolic',
  'a-prime-unnamed': 'diastolic',
  'flow-peak-unnamed': 'valves',
  'annular-excursion-unnamed': 'rv-function',
};

/** Returns true for a value of a structure that neither the header nor the trace identifies. */
export const isOfUnknownStructure = ({ concept }: Pick<Measurement, 'concept'>): boolean =>
  concept.key in SECTION_OF;

/**
 * Quantities for which the highest value is used if several displays show them. In windows with
 * lower peaks, the beam was not parallel to the jet (AS17, R10). An outflow tract obstruction is
 * provocable if any of the manoeuvres provokes it (HCM24).
 */
const HIGHEST: ReadonlySet<EchoConcept> = new Set([
  ...(['av-vmax', 'tr-vmax', 'mr-vmax', 'pv-vmax'] as const),
  'lvot-gradient-provoked',
]);

/**
 * The peak velocity that selects the window for each quantity of a jet. The quantity is measured in
 * the window with the highest peak. In other windows, the beam was not parallel to the jet, so the
 * integral and the mean would be too low (AS17).
 */
const LEADING: Readonly<Partial<Record<EchoConcept, EchoConcept>>> = {
  'av-mean-gradient': 'av-vmax',
  'av-vti': 'av-vmax',
};

/**
 * Quantities of mitral inflow that must all be measured on one display. A ratio of E on one display
 * to A on another would not describe any beat (echo 10.1).
 */
const FILLING: ReadonlySet<EchoConcept> = new Set([
  'mitral-e',
  'mitral-a',
  'deceleration-time',
  'mitral-a-duration',
]);

interface Traced {
  reading: DisplayReading;
  quantity: TracedQuantity;
}

function doubtOf(traced: Traced): Remark | null {
  const { reading, quantity } = traced;
  const { namedBy, nameConfidence, because } = reading;
  if (namedBy === null || quantity.key in SECTION_OF) {
    return remarkOfEcho('display.unnamed', { form: because });
  }
  if (namedBy === 'form' && nameConfidence < TRACED.nameConfidence) {
    return remarkOfEcho('display.form-uncertain', { form: because ?? 'fits-none' });
  }
  const doubt = quantity.doubt ?? traceDoubt(traced);
  return doubt && remarkOfEcho('display.doubt', { doubt });
}

/**
 * Returns the confidence in a quantity, 0 to 1: the confidence in its trace times the share of its
 * beats that agree. This share differs between the quantities of a display. For example, E may vary
 * with breathing while A does not.
 */
const confidenceOf = ({ reading, quantity: { beats, used } }: Traced) =>
  reading.confidence * (beats.length > 0 ? used.length / beats.length : 1);

function traceDoubt({ reading, quantity: { beats, used } }: Traced): DisplayDoubt | null {
  if (beats.length > 0 && used.length < TRACED.leastBeats) return 'single-beat';
  if (reading.confidence < TRACED.confidence) return 'faint';
  return 2 * used.length < beats.length ? 'beats-differ' : null;
}

function beatsRemark({ reading, quantity }: Traced): Remark[] {
  if (quantity.beats.length === 0) return [];
  const irregular = reading.regular === false;
  const advised = ADVISED_BEATS[irregular ? 'irregular' : 'regular'];
  return [remarkOfEcho('display.beats', { beats: quantity.used.length, irregular, advised })];
}

function toMeasurement(traced: Traced, id: string, section: string): Measurement {
  const { reading, quantity } = traced;
  const { because } = reading;
  const doubt = doubtOf(traced);
  const byForm = reading.namedBy === 'form' && because && !doubt;
  const measurement = createMeasurement(
    id,
    quantity.key,
    quantity.value,
    reading.kind === 'm-mode' ? 'm-mode-trace' : 'spectral-trace',
    {
      section,
      derivation: quantity.used.length > 1 ? 'mean' : 'measured',
      source: measuredOn(reading, reading.frame, 'image-analysis', quantity.calipers),
      confidence: confidenceOf(traced) * (reading.namedBy === 'form' ? reading.nameConfidence : 1),
      quality: doubt ? 'low' : 'accepted',
      remarks: [
        ...beatsRemark(traced),
        ...(quantity.remark ? [remarkOfEcho('display.remark', { remark: quantity.remark })] : []),
        ...(byForm ? [remarkOfEcho('display.form', { form: because })] : []),
        ...(doubt ? [doubt] : []),
      ],
    },
  );
  return withPlausibility(measurement, quantity.key);
}

function best(key: EchoConcept, found: readonly Traced[]): Traced[] {
  const worth = (one: Traced) => (HIGHEST.has(key) ? one.quantity.value : confidenceOf(one));
  return found
    .toSorted(
      (one, other) =>
        Number(doubtOf(one) !== null) - Number(doubtOf(other) !== null) ||
        worth(other) - worth(one),
    )
    .slice(0, 1);
}

/**
 * Returns the displays on which a quantity may be measured. If the display with the highest value
 * of `peak` is usable and shows the quantity, only that display is returned; otherwise all of
 * `found` are.
 */
function eligible(
  found: readonly Traced[],
  peak: EchoConcept,
  peaks: readonly Traced[],
): readonly Traced[] {
  const [leader] = best(peak, peaks);
  if (!leader || doubtOf(leader) !== null) return found;
  const own = found.filter((one) => one.reading === leader.reading && doubtOf(one) === null);
  return own.length > 0 ? own : found;
}

/**
 * Returns the display of mitral inflow that is measured: one with a usable E and, if possible, a
 * usable A. Null if no display has a usable E.
 */
function fillingDisplay(traced: readonly Traced[]): DisplayReading | null {
  const usable = (key: EchoConcept) =>
    traced.filter((one) => one.quantity.key === key && doubtOf(one) === null);
  const withA = new Set(usable('mitral-a').map(({ reading }) => reading));
  const [chosen] = usable('mitral-e').toSorted(
    (one, other) =>
      Number(withA.has(other.reading)) - Number(withA.has(one.reading)) ||
      confidenceOf(other) - confidenceOf(one),
  );
  return chosen?.reading ?? null;
}

/**
 * Returns the quantities of traced displays as measurements, each in the section that reports it. A
 * quantity of an identified structure comes from the best of the displays that show it. Those of
 * unidentified structures are all listed.
 */
export function tracedMeasurements(
  readings: readonly DisplayReading[],
  sectionOf: (key: EchoConcept) => string | null,
): Measurement[] {
  const traced = readings.flatMap((reading) =>
    reading.quantities.map((quantity): Traced => ({ reading, quantity })),
  );
  const byKey = Map.groupBy(traced, ({ quantity }) => quantity.key);
  const filling = fillingDisplay(traced);
  const inFilling = ({ reading, quantity }: Traced) =>
    filling === null || reading === filling || !FILLING.has(quantity.key);
  return [...byKey].flatMap(([key, all]) => {
    const found = all.filter(inFilling);
    const unnamed = SECTION_OF[key];
    const section = sectionOf(key) ?? unnamed;
    if (!section) return [];
    const leading = LEADING[key];
    const candidates = leading ? eligible(found, leading, byKey.get(leading) ?? []) : found;
    const shown = unnamed ? found : best(key, candidates);
    return shown.map((one, i) =>
      toMeasurement(one, i === 0 ? `${key}-traced` : `${key}-traced-${i + 1}`, section),
    );
  });
}
