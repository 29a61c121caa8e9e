import type { Routing } from '../../../config/routing.ts';
import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import type { DeliveryRow } from '../../core/outbox/deliveries.ts';
import type { ConditionVerdict, DoctorFinding, RuleVerdict } from './contract.ts';
import type { Wording } from './result-view.ts';

/** A rule judged on a study, with what it found there. */
export type JudgedRule = Omit<RuleVerdict, 'conditions'> & { conditions: JudgedCondition[] };
export type JudgedCondition = Omit<ConditionVerdict, 'found' | 'parts'> & {
  found: string;
  parts?: JudgedCondition[];
};

export interface HeldReport {
  id: string;
  request_id: string;
  destination: string;
  code: string;
  detail: string;
  since: string;
  retried: boolean;
  candidates: readonly {
    reference: string;
    agrees: readonly string[];
    differs: readonly string[];
  }[];
}

/** What the console asks of the parts that it may not import; `main.ts` hands it over. */
export interface ConsoleOperations {
  studies: {
    /** The rules judged on a study; null when it is unknown. @param key our own id of the study. */
    explain(key: string): Promise<{ rules: JudgedRule[] } | null>;
    /** Each rejects with SonogateError `not_found` where the state of the study does not allow it. */
    complete(key: string): Promise<void>;
    hold(key: string, reason: string): Promise<void>;
    release(key: string, rule: string | null): Promise<void>;
    rerun(key: string): Promise<void>;
    dryRun(
      routing: Routing | null,
      last: number,
    ): Promise<{ study: string; receivedAt: Date; acting: string[]; verdicts: JudgedRule[] }[]>;
  };
  wording: Wording;
  /** The rules as they are now. */
  routing(): Routing;
  /** Whether every attribute that the rules name exists. @throws SonogateError `invalid_config` */
  checkRouting(routing: Routing): void;
  deliveries: {
    replay(id: string): Promise<DeliveryRow>;
    divert(id: string, destination: string): Promise<DeliveryRow>;
  };
  holds: {
    list(): Promise<HeldReport[]>;
    show(call: {
      id: string;
      person: string;
    }): Promise<HeldReport & { identity: DicomIdentity | null }>;
    release(call: {
      id: string;
      person: string;
      patient?: string | undefined;
      order?: string | undefined;
      withoutOrder: boolean;
    }): Promise<HeldReport>;
    reject(call: { id: string; person: string; reason: string }): Promise<HeldReport>;
  };
  /** @param peer name of a destination or source; null: all of them and this machine. */
  doctor(peer: string | null): Promise<DoctorFinding[]>;
}
