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

/** The section of the envelope; its artifacts are drawn later. */
export function sectionOf(
  { id, title }: Pick<Section, 'id' | 'title'>,
  { status, reason, summary, data = {} }: SectionOutcome,
): Section {
  return { id, title, status, reason, summary, data, artifacts: [] };
}
