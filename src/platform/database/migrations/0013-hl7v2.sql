-- Accepted HL7 version 2 messages (src/doors/hl7v2/receive). A message that is sent again gets the
-- same response and changes nothing.
CREATE TABLE hl7_messages (
  -- The sending application and facility (MSH-3, MSH-4), the control ID (MSH-10) and the SHA-256 of
  -- the message.
  sender text NOT NULL,
  control_id text NOT NULL,
  digest text NOT NULL,
  received_at timestamptz NOT NULL,
  -- The responses, without their MLLP frames.
  answers bytea[] NOT NULL,
  PRIMARY KEY (sender, control_id, digest)
);
CREATE INDEX hl7_messages_received ON hl7_messages (received_at);

-- Orders that arrived by HL7 version 2 (src/core/studies/received-orders.ts).
CREATE TABLE received_orders (
  id uuid PRIMARY KEY,
  -- Placer and filler order number, each with the authority that assigned it; '' if the order has
  -- none.
  placer text NOT NULL,
  placer_authority text NOT NULL,
  filler text NOT NULL,
  filler_authority text NOT NULL,
  withdrawn boolean NOT NULL,
  -- When the order was last changed, by the clock of its sender.
  ordered_at timestamptz NOT NULL,
  received_at timestamptz NOT NULL,
  -- Patient ID, issuer, birth date and sex (PatientIdentity).
  patient jsonb NOT NULL,
  -- What the order states about each requested procedure (Order, with its Study Instance UID).
  entries jsonb NOT NULL,
  accession_numbers text[] NOT NULL,
  study_uids text[] NOT NULL
);
CREATE INDEX received_orders_placer ON received_orders (placer) WHERE placer <> '';
CREATE INDEX received_orders_filler ON received_orders (filler) WHERE filler <> '';
CREATE INDEX received_orders_accession ON received_orders USING gin (accession_numbers);
CREATE INDEX received_orders_study ON received_orders USING gin (study_uids);
CREATE INDEX received_orders_patient ON received_orders ((patient ->> 'patientId'));
CREATE INDEX received_orders_received ON received_orders (received_at);

-- Merges of two patient IDs issued by one assigning authority (ADT^A40).
CREATE TABLE patient_merges (
  id uuid PRIMARY KEY,
  authority text NOT NULL,
  -- True if images without an issuer count as issued by this authority.
  unissued boolean NOT NULL,
  prior_id text NOT NULL,
  survivor_id text NOT NULL,
  -- When the merge was made, by the clock of its sender. Of two merges of the same ID, the later
  -- one applies.
  effective_at timestamptz NOT NULL,
  received_at timestamptz NOT NULL,
  sender text NOT NULL,
  control_id text NOT NULL,
  -- Set when an operator separates the patients, or a later merge replaces this one.
  withdrawn_at timestamptz
);
CREATE INDEX patient_merges_prior ON patient_merges (prior_id) WHERE withdrawn_at IS NULL;
CREATE INDEX patient_merges_survivor ON patient_merges (survivor_id) WHERE withdrawn_at IS NULL;

-- What messages changed in the identity of a received study. The objects remain as they arrived.
CREATE TABLE patient_corrections (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  -- The correction applies while the study has this patient ID.
  patient_id text NOT NULL,
  -- Values that replace those of the images, by DICOM keyword.
  stated jsonb NOT NULL,
  effective_at timestamptz NOT NULL,
  received_at timestamptz NOT NULL,
  merge_id uuid REFERENCES patient_merges (id) ON DELETE CASCADE,
  sender text NOT NULL,
  control_id text NOT NULL,
  withdrawn_at timestamptz
);
CREATE INDEX patient_corrections_study ON patient_corrections (study_id);
CREATE INDEX patient_corrections_merge ON patient_corrections (merge_id) WHERE merge_id IS NOT NULL;

-- The identity as stated in the images; null if it does not differ from `identity`.
ALTER TABLE studies ADD COLUMN received_identity jsonb;
CREATE INDEX studies_patient ON studies ((identity ->> 'PatientID'));
