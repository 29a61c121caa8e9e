import type { CartMeasurement } from '../contract/cart.ts';
import type { Study } from '../contract/study.ts';
import { echoInputOf } from '../input/handheld.ts';
import { cartMeasurements } from '../result/cart-measurements.ts';
import type { ConceptKey } from '../result/concepts.ts';
import type { Measurement } from '../result/envelope.ts';
import { createMeasurement, NO_FRAME } from '../result/measurement.ts';
import { withStatedMethod } from './cart-methods.ts';
import { echoCartValues } from './cart-values.ts';
import { heartOutlines, NO_OUTLINES, outlinedValues } from './chambers/heart-outlines.ts';
import { withConsistency } from './consistency.ts';
import { indexingArea } from './formulas/body.ts';
import type { EchoContext } from './input.ts';
import { parasternalValues } from './parasternal/parasternal-values.ts';
import { withPlausibility } from './plausibility.ts';
import type { ClipView } from './reader.ts';
import type { Readings } from './readers.ts';
import type { EchoEvidence, EchoPatient, EchoSection } from './section.ts';
import { type SpectrumReading, spectralPeaks } from './spectra.ts';
import { shown } from './values.ts';

/** Of the patient, as the request says; sex only where reference ranges exist for it. */
export function patientOf(context: EchoContext): EchoPatient {
  const {
    sex,
    age_years: age = null,
    height_cm: height = null,
    weight_kg: weight = null,
  } = context;
  return {
    sex: sex === 'male' || sex === 'female' ? sex : null,
    age,
    height,
    weight,
    surface: indexingArea(height, weight),
  };
}

/** Body surface area belongs to the section of LV size, in which the report shows it. */
export const SURFACE_SECTION = 'lv-size';

/**
 * By Du Bois from what the request says; where it says no height or no weight, that of the machine's
 * report (TID 5201; reference 0.6). A height or weight that cannot be is not passed over.
 */
function surfaceOf(
  { surface, height, weight }: EchoPatient,
  cart: readonly CartMeasurement[],
): Measurement | null {
  if (surface !== null) {
    return createMeasurement('body-surface-area', 'body-surface-area', surface, 'du-bois', {
      section: SURFACE_SECTION,
      source: { ...NO_FRAME, provenance: 'input' },
    });
  }
  if (height !== null && weight !== null) return null;
  const [given] = cartMeasurements(cart, SURFACE_SECTION, ['body-surface-area']);
  if (!given) return null;
  const note = 'of the machine: the request gives no height and weight';
  const noted = { ...given, note: [given.note, note].filter(Boolean).join('; ') };
  return withPlausibility(noted, 'body-surface-area');
}

/** The machine's value with what the outlines say of the same quantity. */
function beside(value: Measurement, images: readonly Measurement[]): Measurement {
  const key = value.concept.key as ConceptKey;
  const own = images.find((one) => one.concept.key === key && one.quality === 'accepted');
  if (!own) return value;
  const note = `image analysis: ${shown(key, own.value)}`;
  return { ...value, note: [value.note, note].filter(Boolean).join('; ') };
}

export interface Gathered {
  study: Study;
  context: EchoContext;
  spectra: readonly SpectrumReading[];
  clips: readonly ClipView[];
  views: Readings;
  priors: readonly string[];
}

/** What is known before any section runs, each value where it is shown. */
export function gatherEvidence(
  { study, context, spectra, clips, views, priors }: Gathered,
  sections: readonly EchoSection[],
): EchoEvidence {
  const asked = patientOf(context);
  const cart = echoCartValues(study.cart ?? []);
  const surface = surfaceOf(asked, cart);
  const patient = { ...asked, surface: surface?.quality === 'accepted' ? surface.value : null };
  const measured = sections.flatMap(({ id, measures }) =>
    measures.flatMap((key) =>
      cartMeasurements(cart, id, [key]).map((one) =>
        withStatedMethod(withPlausibility(one, key), cart),
      ),
    ),
  );
  const sectionOf = (key: ConceptKey) =>
    sections.find(({ measures }) => measures.includes(key))?.id ?? null;
  const traced = spectralPeaks(spectra, sectionOf);
  const heart = views.apical ? heartOutlines(views.apical, views.parasternal) : NO_OUTLINES;
  const parasternal = views.parasternal ? parasternalValues(views.parasternal) : [];
  // Lines on 2D stand before M-mode (reference 5.1), M-mode before the motion of an outline.
  const images = [...parasternal, ...traced, ...outlinedValues(heart)];
  return {
    study,
    patient,
    // What the operator chose on the machine stands before what was measured here.
    // A number that is none would break the schema of the result, and lose every other value.
    measured: withConsistency(
      [
        ...(surface ? [surface] : []),
        ...measured.map((value) => beside(value, images)),
        ...images,
      ].filter(({ value }) => Number.isFinite(value)),
    ),
    spectra,
    clips,
    views,
    heart,
    handheld: echoInputOf(study.clips).kind === 'handheld',
    priors,
  };
}
