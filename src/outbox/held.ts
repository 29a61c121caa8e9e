/**
 * SQL: whether the delivery `d` to an EHR waits for a person: it ended without success, or its
 * patient is not known there yet; not one that a person has rejected.
 */
export const HELD_FOR_A_PERSON = `(d.kind = 'fhir'
  AND (d.state = 'dead' OR (d.state = 'pending' AND d.code = 'ehr_patient_not_found'))
  AND 'reject' IS DISTINCT FROM (SELECT h.action FROM hold_actions h
    WHERE h.delivery_id = d.id AND h.action <> 'show' ORDER BY h.id DESC LIMIT 1))`;
