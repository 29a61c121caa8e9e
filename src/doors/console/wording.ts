import { chartEntry, conceptEntry, methodEntry } from '../../../pipelines/concepts/concepts.ts';
import { specialtyOf } from '../../../pipelines/concepts/specialty.ts';
import { ACCEPTED_STORAGE } from '../../../pipelines/dicom/sop-classes.ts';
import { FLOWS } from '../../../pipelines/echo/displays/flows.ts';
import { M_MODE_STRUCTURES } from '../../../pipelines/echo/displays/reading.ts';
import { echoEndpoint } from '../../../pipelines/echo/endpoint.ts';
import { ECHO_VIEWS } from '../../../pipelines/echo/locate/names.ts';
import type { Measurement } from '../../../pipelines/result/envelope.ts';
import { viewText } from '../../../pipelines/result/render/echo/views.ts';
import { numberText } from '../../../pipelines/result/render/number-text.ts';
import { VESSELS } from '../../../pipelines/result/render/obstetric/doppler.ts';
import { PLANE_LABELS } from '../../../pipelines/result/render/obstetric/planes.ts';
import { weeksAndDays } from '../../../pipelines/result/render/obstetric/shared.ts';
import { unitText } from '../../../pipelines/result/render/unit-text.ts';
import { typeset } from '../../../pipelines/result/render/value-text.ts';
import type { ReviewView } from './review-contract.ts';

/** The gestational age on the day of the scan, as stated in the request, and its basis. */
export interface StatedAge {
  days: number;
  basis: string;
}

/**
 * Describes what an endpoint does, such as "obstetric interpretation". An endpoint without a
 * specialty is described by its id.
 */
export function interpretationText(endpoint: string): string {
  const specialty = specialtyOf(endpoint);
  return specialty === null ? endpoint : `${specialty} interpretation`;
}

/** The unit of gestational ages. No other measured quantity has it. */
const AGE_UNIT = 'd';

/** Formats a value for display: a gestational age in weeks, any other value as a number. */
export const valueText = (measurement: Measurement): string =>
  measurement.unit === AGE_UNIT
    ? weeksAndDays(measurement.value)
    : typeset(numberText(measurement));

/** Returns the unit that follows `valueText`. */
export const unitOf = ({ unit }: Measurement): string =>
  unit === AGE_UNIT ? 'weeks' : unitText(unit);

/** Returns the short name of a quantity, such as `EFW`. */
export const abbreviationOf = (concept: string): string =>
  conceptEntry(concept)?.abbreviation ?? concept;

/** Describes how a quantity was measured or calculated; returns an unknown key unchanged. */
export const methodText = (key: string): string => methodEntry(key)?.text ?? key;

/** Returns the name of a reference chart; returns an unknown key unchanged. */
export const chartName = (key: string): string => chartEntry(key)?.name ?? key;

/** Returns the name of a storage SOP class, or the UID if the gateway has no name for it. */
export const sopClassName = (uid: string): string => ACCEPTED_STORAGE.get(uid) ?? uid;

/**
 * Display names of image contents, by their id in the result. Cardiac views are not listed, because
 * their ids are already names.
 */
export const VIEW_NAMES: Readonly<Record<string, string>> = {
  ...PLANE_LABELS,
  ...VESSELS,
  ...FLOWS,
  ...M_MODE_STRUCTURES,
};

/** Returns the names that a person may give to an image at an endpoint: cardiac views or planes. */
export function imageNames(endpoint: string): Pick<ReviewView['names'], 'kind' | 'options'> {
  if (endpoint === echoEndpoint.id) {
    return {
      kind: 'name-view',
      options: ECHO_VIEWS.map((value) => ({ value, text: viewText(value) })),
    };
  }
  const capitalized = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return {
    kind: 'name-plane',
    options: Object.entries(PLANE_LABELS).map(([value, text]) => ({
      value,
      text: capitalized(text),
    })),
  };
}
