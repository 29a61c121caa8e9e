import type { Finding, Measurement, Result, Section } from './envelope.ts';

/** What one section of an endpoint says of a study. */
export interface SectionOutcome {
  status: Section['status'];
  reason: Section['reason'];
  summary: string;
  data?: Section['data'];
  measurements?: Measurement[];
  findings?: Finding[];
  classifications?: Result['classifications'];
  guidance?: Result['guidance'];
}

/** The input lacks what a section needs, or forbids it; the sentence is its summary, too. */
export function notAssessed(
  code: string,
  detail: string,
  needs: readonly string[],
): SectionOutcome {
  return { status: 'not_assessed', reason: { code, detail, needs: [...needs] }, summary: detail };
}

/** What a section needs was there, but below the gate; `measurements` are those that were not accepted. */
export function inadequate(
  code: string,
  detail: string,
  needs: readonly string[],
  measurements: Measurement[] = [],
): SectionOutcome {
  return { ...notAssessed(code, detail, needs), status: 'inadequate', measurements };
}

/** A section that could not be looked at because of an error of ours: neither normal nor abnormal. */
export function failed(code: string, detail: string, needs: readonly string[]): SectionOutcome {
  return { ...notAssessed(code, detail, needs), status: 'failed' };
}

/** The section of the envelope; its artifacts are drawn later. */
export function sectionOf(
  { id, title }: Pick<Section, 'id' | 'title'>,
  { status, reason, summary, data = {} }: SectionOutcome,
): Section {
  return { id, title, status, reason, summary, data, artifacts: [] };
}
