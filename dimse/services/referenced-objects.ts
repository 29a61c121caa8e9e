import { randomUUID } from 'node:crypto';
import type { NaturalDataset } from 'dcmjs';
import { itemsOf } from '../../pipelines/dicom/data-set.ts';
import { isUid } from '../../pipelines/dicom/uid.ts';

/** One item of a Referenced SOP Sequence (PS3.3 10.8). */
export interface SopReference {
  sopClassUid: string;
  sopInstanceUid: string;
}

export const REFERENCE_ATTRIBUTES = ['ReferencedSOPClassUID', 'ReferencedSOPInstanceUID'] as const;

/**
 * Returns the references in a sequence.
 * @param sequence value of a sequence of SOP references; items without both UIDs are ignored.
 */
export function sopReferences(sequence: unknown): SopReference[] {
  return itemsOf(sequence).flatMap((item) => {
    const sopClassUid = uidOf(item.ReferencedSOPClassUID);
    const sopInstanceUid = uidOf(item.ReferencedSOPInstanceUID);
    return sopClassUid && sopInstanceUid ? [{ sopClassUid, sopInstanceUid }] : [];
  });
}

/**
 * Returns every item of a sequence of SOP references with its UIDs as they are written: malformed
 * ones too, and '' for a missing one.
 */
export function statedReferences(sequence: unknown): SopReference[] {
  return itemsOf(sequence).map((item) => ({
    sopClassUid: textOf(item.ReferencedSOPClassUID),
    sopInstanceUid: textOf(item.ReferencedSOPInstanceUID),
  }));
}

export function referenceItems(references: readonly SopReference[]): NaturalDataset[] {
  return references.map(({ sopClassUid, sopInstanceUid }) => ({
    ReferencedSOPClassUID: sopClassUid,
    ReferencedSOPInstanceUID: sopInstanceUid,
  }));
}

/** Returns a new UID, derived from a random UUID (PS3.5 B.2). */
export function newUid(): string {
  return `2.25.${BigInt(`0x${randomUUID().replaceAll('-', '')}`)}`;
}

/** Returns the UID in an attribute; '' if it is missing or malformed (PS3.5 9.1). */
export function uidOf(value: unknown): string {
  const text = textOf(value);
  return isUid(text) ? text : '';
}

function textOf(value: unknown): string {
  const text = Array.isArray(value) ? value[0] : value;
  return typeof text === 'string' ? text : '';
}
