import type { Coding } from './coding.ts';
import { type Specialty, specialtyOf } from './specialty.ts';

/** Codes and title under which an endpoint's report is stored (exchange 1.3). */
interface ReportConcept {
  /** The LOINC code comes first, because some receivers read only the first code. */
  codings: readonly [Coding, ...Coding[]];
  title: string;
  /** Diagnostic service section (HL7 table 0074). */
  service: { code: string; meaning: string };
  /** LOINC class that US Core requires. */
  category: Coding;
}

const RADIOLOGY: Coding = { scheme: 'LN', code: 'LP29684-5', meaning: 'Radiology' };

const REPORT_CONCEPTS: Readonly<Record<Specialty, ReportConcept>> = {
  obstetric: {
    codings: [{ scheme: 'LN', code: '11525-3', meaning: 'US for pregnancy' }],
    title: 'Obstetric ultrasound report',
    service: { code: 'OUS', meaning: 'OB Ultrasound' },
    category: RADIOLOGY,
  },
  echo: {
    codings: [
      { scheme: 'LN', code: '42148-7', meaning: 'Heart US' },
      { scheme: 'SCT', code: '433236007', meaning: 'Transthoracic echocardiography' },
    ],
    title: 'Echocardiography report',
    service: { code: 'CUS', meaning: 'Cardiac Ultrasound' },
    category: { scheme: 'LN', code: 'LP29708-2', meaning: 'Cardiology' },
  },
};

const ANY_ULTRASOUND: ReportConcept = {
  codings: [{ scheme: 'LN', code: '18760-9', meaning: 'Ultrasound Report' }],
  title: 'Ultrasound report',
  service: { code: 'RUS', meaning: 'Radiology Ultrasound' },
  category: RADIOLOGY,
};

export function reportConcept(endpoint: string): ReportConcept {
  const specialty = specialtyOf(endpoint);
  return specialty === null ? ANY_ULTRASOUND : REPORT_CONCEPTS[specialty];
}
