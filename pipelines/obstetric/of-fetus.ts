import { ofFetusId } from '../contract/fetus-name.ts';
import type { Finding, Measurement, Result } from '../result/envelope.ts';

interface Judged {
  measurements: Measurement[];
  findings: Finding[];
  classifications: Result['classifications'];
}

/** A sentence about one of several fetuses. */
export const ofFetusText = (text: string, fetus: string) => `Fetus ${fetus}: ${text}`;

/**
 * Measurements, findings and classifications whose every id, name and sentence tells which of several
 * fetuses they are of (obstetric reference 0.5: every fetal section is keyed by fetus).
 */
export function keyedByFetus(judged: Judged, fetus: string): Judged {
  const idOf = (id: string) => ofFetusId(id, fetus);
  return {
    measurements: judged.measurements.map((one) => ({
      ...one,
      id: idOf(one.id),
      fetus,
      inputs: one.inputs.map(idOf),
    })),
    findings: judged.findings.map((one) => ({
      ...one,
      id: idOf(one.id),
      text: ofFetusText(one.text, fetus),
      evidence: one.evidence.map(idOf),
    })),
    classifications: judged.classifications.map((one) => ({
      ...one,
      id: idOf(one.id),
      name: `${one.name}, fetus ${fetus}`,
    })),
  };
}
