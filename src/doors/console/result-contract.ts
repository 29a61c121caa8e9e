/** The result of a request as the console shows it; see contract.ts. Types only. */

/** `GET /requests/{id}/result`; 410 `expired` once the result has been purged. */
export interface ResultView {
  requestId: string;
  endpoint: string;
  version: string;
  /** True for an unverified AI draft; false once the result is signed. */
  draft: boolean;
  /**
   * Text to show if the result accepts values from methods that were validated on simulated images
   * only; otherwise null.
   */
  researchNotice: string | null;
  models: { id: string; version: string; licence: string; pack: string; provider: string }[];
  sections: Section[];
  findings: {
    id: string;
    section: string;
    text: string;
    severity: 'info' | 'abnormal' | 'critical';
  }[];
  measurements: MeasurementRow[];
  /** At most eight values that a clinician looks for first. */
  keyValues: KeyValue[];
  scores: {
    id: string;
    section: string;
    name: string;
    value: number;
    range: [number, number];
    components: { name: string; value: number }[];
  }[];
  classifications: {
    id: string;
    section: string;
    name: string;
    value: string;
    scheme: string;
    /** `text` is the value that was compared, with the outcome. */
    criteria: { name: string; text: string; met: boolean }[];
  }[];
  guidance: { id: string; section: string; text: string; source: string }[];
  /**
   * The conclusions of the result, worded as in the PDF, SR and FHIR outputs. Present even if no
   * report was requested.
   */
  impression: string[];
  report: {
    title: string;
    findings: string[];
    limitations: string[];
  } | null;
  /** Gestational age on the day of the scan in days, and its basis; null when unknown. */
  gestationalAge: { days: number; basis: string } | null;
  /** Display names of image contents, by their id in overlays.json. */
  viewNames: Readonly<Record<string, string>>;
  /** Side of the paired vessel in each image, by file. */
  sides: Readonly<Record<string, 'left' | 'right'>>;
  artifacts: Artifact[];
  /** The request whose values are shown as `prior`; null without an earlier examination. */
  prior: { requestId: string; daysBefore: number } | null;
}

/** A value that a clinician looks for first; its row in `measurements` has further details. */
export interface KeyValue {
  id: string;
  /** Short name of the quantity; `title` is its full name. */
  label: string;
  title: string;
  fetus: string | null;
  text: string;
  unitText: string;
  interpretation: 'N' | 'L' | 'H' | 'A' | null;
  /** The centile as text; null if the value has none. */
  centile: string | null;
  /** True if a person must confirm the value before it leads to a conclusion. */
  toConfirm: boolean;
  file: string | null;
  frame: number | null;
}

export type SectionStatus =
  | 'complete'
  | 'partial'
  | 'not_assessed'
  | 'inadequate'
  | 'not_requested'
  | 'failed';

export interface Section {
  id: string;
  title: string;
  status: SectionStatus;
  /**
   * Why the section was not assessed, or was assessed only in part, and what it needs; null if it
   * was assessed completely.
   */
  reason: { code: string; detail: string; needs: string[] } | null;
  summary: string;
  /** Data specific to the section; see docs/echo.md and docs/growth.md. */
  data: Record<string, unknown>;
  artifacts: string[];
}

/**
 * One quantity at one place, with the model's value, the machine value (from the structured report
 * of the ultrasound system) and the value from the earlier examination side by side. If one of
 * these has several values, the row contains the value that the result uses, and `more` contains
 * the others.
 */
export interface MeasurementRow {
  /** Concept key, site, side, fetus and phase: unique within the result. */
  id: string;
  concept: string;
  label: string;
  /** The unit in UCUM; `unitText` is its display form. */
  unit: string;
  unitText: string;
  decimals: number;
  section: string;
  site: string | null;
  laterality: 'left' | 'right' | null;
  fetus: string | null;
  phase: string | null;
  model: Measured | null;
  cart: Measured | null;
  /** The value stated in the request; null if none was stated. */
  given: Measured | null;
  more: Measured[];
  /** The value from the earlier examination (`ResultView.prior`); null if there is none. */
  prior: { value: number; text: string } | null;
}

export interface Measured {
  /** Id of the measurement in the result. Overlays and findings refer to this id. */
  id: string;
  value: number;
  /** The value as text, rounded and without the unit. */
  text: string;
  provenance: 'model' | 'image-analysis' | 'cart-sr' | 'input' | 'person';
  derivation: 'measured' | 'calculated' | 'mean' | 'median';
  method: string;
  /** Half width of the 95 % interval, in the value's unit. */
  uncertainty: number | null;
  quality: 'accepted' | 'review' | 'low' | 'inadequate';
  /** Why the value was not accepted; null when it was accepted. */
  doubt: string | null;
  reference: {
    low: number | null;
    high: number | null;
    /** The centile as text, as in every other output: `<1`, `97`. */
    centile: string | null;
    zScore: string | null;
    chart: string;
  } | null;
  interpretation: 'N' | 'L' | 'H' | 'A' | null;
  /** File in the request and 1-based frame; null for a value that belongs to no single frame. */
  file: string | null;
  frame: number | null;
  note: string | null;
}

/** A file that `GET /requests/{id}/artifacts/{name}` returns. */
export interface Artifact {
  name: string;
  bytes: number;
  section: string | null;
}
