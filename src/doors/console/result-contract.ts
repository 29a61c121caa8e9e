/** The result of a request as the console shows it; see contract.ts. Types only. */

/** `GET /requests/{id}/result`; 410 `expired` once it was purged. */
export interface ResultView {
  requestId: string;
  endpoint: string;
  version: string;
  generatedAt: string;
  /** Always true: an unverified, AI-made draft. */
  draft: true;
  models: { id: string; version: string; licence: string; pack: string; provider: string }[];
  input: {
    files: number;
    clips: number;
    frames: number;
    calibratedFrames: number;
    modes: string[];
    refused: { file: string; reason: string }[];
    priors: number;
  };
  sections: Section[];
  findings: {
    id: string;
    section: string;
    text: string;
    severity: 'info' | 'abnormal' | 'critical';
    confidence: number | null;
    evidence: string[];
  }[];
  measurements: MeasurementRow[];
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
    criteria: { name: string; value: string; met: boolean }[];
  }[];
  guidance: { id: string; section: string; text: string; source: string }[];
  report: {
    title: string;
    findings: string[];
    impression: string[];
    limitations: string[];
  } | null;
  /** Gestational age on the day of the scan in days, and its basis; null when unknown. */
  gestationalAge: { days: number; basis: string } | null;
  /** What an image shows in words, by the id that overlays.json has for it. */
  viewNames: Readonly<Record<string, string>>;
  artifacts: Artifact[];
  /** The request whose values are shown as `prior`; null when there is none. */
  prior: { requestId: string; daysBefore: number } | null;
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
  /** Why it was not, or not completely, assessed, and what it needs. */
  reason: { code: string; detail: string; needs: string[] } | null;
  summary: string;
  /** Own shape per section: docs/echo.md, docs/growth.md. */
  data: Record<string, unknown>;
  artifacts: string[];
}

/**
 * One quantity at one place: the values of the model, of the machine and of the earlier examination
 * side by side. Of several values from one side, the row has the one that the result uses; the
 * others are `more`.
 */
export interface MeasurementRow {
  /** Concept key, site, side, fetus and phase: unique within the result. */
  id: string;
  concept: string;
  label: string;
  /** In UCUM, and as a person reads it. */
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
  /** Given with the request. */
  given: Measured | null;
  more: Measured[];
  /** Of the earlier examination that `ResultView.prior` names. */
  prior: { value: number; text: string } | null;
}

export interface Measured {
  /** Id of the measurement in the result; overlays and findings name it. */
  id: string;
  value: number;
  /** Rounded, without the unit. */
  text: string;
  provenance: 'model' | 'image-analysis' | 'cart-sr' | 'input';
  derivation: 'measured' | 'calculated' | 'mean' | 'median';
  /** In words. */
  method: string;
  confidence: number | null;
  /** Half width of the 95 % interval in the value's unit. */
  uncertainty: number | null;
  quality: 'accepted' | 'low' | 'inadequate';
  /** Why it was not accepted; null when it was. */
  doubt: string | null;
  reference: {
    low: number | null;
    high: number | null;
    /** In words as in every other output: `<1`, `97`. */
    centile: string | null;
    zScore: string | null;
    /** Its name. */
    chart: string;
  } | null;
  interpretation: 'N' | 'L' | 'H' | 'A' | null;
  /** File of the request and 1-based frame; null for a value that belongs to no single frame. */
  file: string | null;
  frame: number | null;
  note: string | null;
}

/** `GET /requests/{id}/artifacts/{name}` has the bytes. */
export interface Artifact {
  name: string;
  mediaType: string;
  bytes: number;
  section: string | null;
}
