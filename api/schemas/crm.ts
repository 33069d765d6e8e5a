/** Schemas of CRM records, and the filters and orders of their lists. */
import Joi from 'joi';

import { wholeRecord } from './answers.js';
import { integer, nullable, orNull } from './fields.js';
import { named } from './reference.js';

const text = () => Joi.string().allow('');
const nullableText = (description: string) => nullable(text()).description(description);
const remote = () =>
  nullable(Joi.object().unknown()).description(
    'The record as Salesforce returned it. `null` without `include_remote_data`.',
  );
const recordId = () =>
  text().description(
    'Id of the record at Salesforce: 18 characters. The first three determine its kind, such as `001` for accounts.',
  );
const owner = () =>
  named(
    'PartialOwner',
    wholeRecord({
      id: nullableText('Id of the user at Salesforce who owns the record. Null if Salesforce returns none.'),
    }).description('Reference to the user of Salesforce who is responsible for a record. Only the id is returned.'),
  );
const account = () =>
  nullable(
    named(
      'PartialAccount',
      wholeRecord({
        id: nullableText(
          'Id of the account, as in `GET /integrations/data/crm/accounts/{id}`. Null if Salesforce returns none.',
        ),
      }).description(
        'Reference to an account: only its id. `GET /integrations/data/crm/accounts/{id}` returns the account.',
      ),
    ),
  );
const contact = () =>
  nullable(
    named(
      'PartialContact',
      wholeRecord({
        id: nullableText(
          'Id of the contact, as in `GET /integrations/data/crm/contacts/{id}`. Null if Salesforce returns none.',
        ),
      }).description(
        'Reference to a contact: only its id. `GET /integrations/data/crm/contacts/{id}` returns the contact.',
      ),
    ),
  );
const times = {
  created_at: text().description('When the record was created at Salesforce: date and time, ISO 8601.'),
  updated_at: text().description('When a user last changed the record at Salesforce: date and time, ISO 8601.'),
  is_deleted: Joi.boolean().description(
    'Whether the record is in the recycle bin of Salesforce. Always `false`: the queries omit deleted records.',
  ),
  remote_data: remote(),
};

const opportunityStatus = () =>
  named(
    'OpportunityStatus',
    Joi.string()
      .valid('WON', 'OPEN')
      .description('Whether an opportunity can still be won (`OPEN`) or is won (`WON`). A lost one has no status.'),
  );
const addresses = () =>
  Joi.array()
    .items(
      named(
        'Address',
        wholeRecord({
          street_1: nullableText('First line of the street address, such as `1 Market Street`. Null if unknown.'),
          street_2: nullableText(
            'Further lines of the street address, separated by commas, such as `Suite 300`. Null if there are none.',
          ),
          city: nullableText('Town or city as users entered it, not checked by Salesforce. Null if they entered none.'),
          state: nullableText(
            'State or province as users entered it: a name or a code, such as `CA`. Null if unknown.',
          ),
          postal_code: nullableText('ZIP or postal code as text, such as `02139`. Null if unknown.'),
          country: nullableText('Country as users entered it: a name or a code, such as `USA`. Null if unknown.'),
          address_type: nullableText(
            'Use of the address. Of an account: `BILLING` or `SHIPPING`; of a contact: `MAILING` or `OTHER`; of a lead: null.',
          ),
        }).description('Postal address. Parts that are not known are `null`.'),
      ),
    )
    .description('Postal addresses of the record. Empty if Salesforce has none.');
const phoneNumbers = () =>
  Joi.array()
    .items(
      named(
        'PhoneNumber',
        wholeRecord({
          phone_number: text().description(
            'The number as users entered it, such as `+1 415 555 0100`. It has no uniform format.',
          ),
          phone_number_type: nullableText(
            'Kind of the number: `PRIMARY`, `MOBILE`, `HOME`, `OTHER` or `FAX`. Never null in this version.',
          ),
        }).description('Telephone or fax number as text, with its kind. A record has at most one of each kind.'),
      ),
    )
    .description('Telephone and fax numbers of the record. Empty if Salesforce has none.');
const emails = () =>
  Joi.array()
    .items(
      named(
        'Email',
        wholeRecord({
          email: text().description(
            'E-mail address as entered in Salesforce, such as `ada@example.com`. Several records may have the same one.',
          ),
          email_type: nullableText('Always `PRIMARY`, and never null: Salesforce has one address per person.'),
        }).description('E-mail address of a lead or contact. Salesforce has at most one for each.'),
      ),
    )
    .description('E-mail address of the person: a list with one entry, or an empty list if Salesforce has none.');

/** Returns the fields for the people and the company of an activity. */
const peopleOf = (activity: string) => ({
  owner: owner().description(`Salesforce user to whom the ${activity} is assigned. Only the \`id\` is returned.`),
  account: account().description(
    `Company that the ${activity} is about. Only its \`id\` is returned. Null if none is set.`,
  ),
  contact: contact().description(
    `Contact whom the ${activity} concerns. Only the \`id\` is returned. Null if none is set, or if the person is a lead.`,
  ),
});
const task = named(
  'Task',
  wholeRecord({
    id: recordId(),
    ...peopleOf('task'),
    subject: nullableText('Subject line that says what to do, such as `Send quote`. Null if users entered none.'),
    description: nullableText('Comments on the task, plain text of any number of lines. Null if users entered none.'),
    priority: nullableText(
      'Urgency, such as `High`. Each organization defines the values at Salesforce. Null if Salesforce returns none.',
    ),
    status: nullableText(
      'Progress, such as `Completed`. Each organization defines the values at Salesforce. Null if Salesforce returns none.',
    ),
    ...times,
  }).description('Task of Salesforce: work that a user has to do, or has done, for an account or a person.'),
);
const event = named(
  'Event',
  wholeRecord({
    id: recordId(),
    ...peopleOf('appointment'),
    subject: nullableText('Subject line of the appointment, such as `Product demo`. Null if users entered none.'),
    description: nullableText(
      'Notes on the appointment, such as its agenda: plain text of any number of lines. Null if users entered none.',
    ),
    location: nullableText(
      'Where the appointment takes place, as free text, such as `Room 4` or a street address. Null if users entered none.',
    ),
    is_all_day: Joi.boolean().description(
      'Whether the appointment lasts whole days, so that the times in `start_date` and `end_date` have no meaning.',
    ),
    start_date: nullableText(
      'Start of the appointment: date and time in ISO 8601, or only the date (`2026-01-15`) if Salesforce returns no time. Null if unknown.',
    ),
    end_date: nullableText('End of the appointment: date and time in ISO 8601. Null if Salesforce returns none.'),
    ...times,
  }).description('Event of Salesforce: a meeting, call or other appointment with a company or a person.'),
);

/** Returns the schema of a record with its related data, which is included on request. */
const record = (description: string, fields: Record<string, Joi.Schema>) =>
  wholeRecord({
    id: recordId(),
    description: nullableText(
      'Plain text of the field Description at Salesforce, up to 32,000 characters. Null if it is empty.',
    ),
    last_activity_at: nullableText('Day of the latest event or closed task, `YYYY-MM-DD`. Null if there is none.'),
    ...times,
    ...fields,
  })
    .keys({
      tasks: nullable(Joi.array().items(task)).description(
        'Tasks of the record. Present only if `includes` has `Tasks`; never null in this version.',
      ),
      events: nullable(Joi.array().items(event)).description(
        'Appointments of the record. Present only if `includes` has `Events`; never null in this version.',
      ),
    })
    .description(description);

const ORDERS = ['created_at', 'updated_at', 'name', 'last_activity_at'];
const name = () =>
  orNull(text().max(2_048)).description(
    'Only records whose name contains this text, ignoring case; at most 2,048 characters. Null or empty: all.',
  );
const id = (of: string) =>
  orNull(text().max(100)).description(`Only records whose ${of} has this Salesforce id. Null or empty: all.`);

/** The kinds of records, by the names of their operations. */
export const CRM_OPERATIONS = {
  accounts: {
    singular: 'account',
    names: { request: 'AccountsRequest', filters: 'AccountFilters', order: 'AccountsOrderBy', page: 'AccountResponse' },
    filters: { name: name(), owner_id: id('owner') },
    orders: [...ORDERS, 'number_of_employees'],
    record: named(
      'Account',
      record('Account of Salesforce: a company or other organization, such as a customer, a partner or a competitor.', {
        owner: nullable(owner()).description(
          'Salesforce user who owns the account, as an object with the `id` of the user. `owner_id` in `filters` ' +
            'lists the accounts of one owner. Never null in this version.',
        ),
        name: nullableText('Display name of the company, which need not be unique. Null if Salesforce returns none.'),
        industry: nullableText(
          'Branch of business, such as `Banking`. Each organization defines the values at Salesforce. Null if users entered none.',
        ),
        website: nullableText('Address of the website of the company, as users entered it. Null if they entered none.'),
        number_of_employees: nullable(integer()).description(
          'Headcount of the company as users of Salesforce entered it. `null` if they entered none.',
        ),
        addresses: addresses(),
        phone_numbers: phoneNumbers(),
      }),
    ),
  },
  leads: {
    singular: 'lead',
    names: { request: 'LeadsRequest', filters: 'LeadFilters', order: 'LeadsOrderBy', page: 'LeadsResponse' },
    filters: {
      name: name(),
      owner_id: id('owner'),
      converted_account_id: id('account from the conversion (`converted_account`)'),
      converted_contact_id: id('contact from the conversion (`converted_contact`)'),
    },
    orders: ORDERS,
    record: named(
      'Lead',
      record('Lead: person who may become a customer. A conversion makes the lead a contact with an account.', {
        owner: owner().description(
          'Salesforce user, or queue of several users, that is responsible for the lead. Only the `id` is returned.',
        ),
        source: nullableText('Where the person was found, such as `Web`. Null if unknown.'),
        status: nullableText(
          'Progress, such as `Working - Contacted`. Each organization defines the values at Salesforce. Null if Salesforce returns none.',
        ),
        title: nullableText('Position of the person in the company, such as `Head of Sales`. Null if unknown.'),
        company: nullableText(
          'Name of the company that the person works for, as free text: a lead has no account. Null if unknown.',
        ),
        first_name: nullableText('Given name of the person; null if only the family name is known.'),
        last_name: nullableText('Family name of the person. Salesforce requires it. Null if Salesforce returns none.'),
        addresses: addresses(),
        phone_numbers: phoneNumbers(),
        emails: emails(),
        converted_at: nullableText('Day on which the lead was converted to a contact, `YYYY-MM-DD`. Null before.'),
        converted_account: account().description(
          'Account into which the lead was converted. Only its `id` is returned. Null before the conversion.',
        ),
        converted_contact: contact().description(
          'Contact into which the lead was converted. Only its `id` is returned. Null before the conversion.',
        ),
      }),
    ),
  },
  contacts: {
    singular: 'contact',
    names: {
      request: 'ContactsRequest',
      filters: 'ContactFilters',
      order: 'ContactsOrderBy',
      page: 'ContactsResponse',
    },
    filters: { name: name(), owner_id: id('owner'), account_id: id('account') },
    orders: [...ORDERS, 'title'],
    record: named(
      'Contact',
      record('Contact of Salesforce: a person, usually at the company of an account.', {
        owner: nullable(owner()).description(
          'Salesforce user who owns the contact, as an object with the `id` of the user. `owner_id` in `filters` ' +
            'lists the contacts of one owner. Never null in this version.',
        ),
        account: account().description(
          'Account of the company that the person belongs to, as an object with its `id`. Null for a contact without an account.',
        ),
        first_name: nullableText('Given name of the person; null if only the family name is known.'),
        last_name: nullableText('Family name of the person. Salesforce requires it. Null if Salesforce returns none.'),
        name: nullableText('Full name of the person, such as `Ada Lovelace`. Null if Salesforce returns none.'),
        title: nullableText('Position of the person in the company, such as `Head of Sales`. Null if unknown.'),
        department: nullableText(
          'Part of the company in which the person works, as free text such as `Sales`. Null if unknown.',
        ),
        addresses: addresses(),
        phone_numbers: phoneNumbers(),
        emails: emails(),
      }),
    ),
  },
  opportunities: {
    singular: 'opportunity',
    names: {
      request: 'OpportunitiesRequest',
      filters: 'OpportunityFilters',
      order: 'OpportunitiesOrderBy',
      page: 'OpportunitiesResponse',
    },
    filters: {
      owner_id: id('owner'),
      account_id: id('account'),
      stage: orNull(text().max(255)).description(
        'Name of a stage of the sales process, exactly as in `stage` of a record. Null: all stages.',
      ),
      status: orNull(opportunityStatus()).description(
        '`OPEN`: only sales that can still be won. `WON`: only won ones. Absent or null: all, lost ones too.',
      ),
    },
    orders: [...ORDERS, 'amount', 'close_date'],
    record: named(
      'Opportunity',
      record(
        'Opportunity of Salesforce: a possible sale to a company, with its expected value, until it is won or lost.',
        {
          owner: owner().description(
            'Salesforce user who owns the opportunity, as an object with the `id` of the user. `owner_id` in `filters` lists the opportunities of one owner.',
          ),
          name: nullableText(
            'Title that users gave the sale, such as `Acme - 200 seats`. Null if Salesforce returns none.',
          ),
          amount: nullable(integer()).description(
            'Expected value, rounded, in the currency of the record. Null if users entered none.',
          ),
          account: account().description(
            'Account of the company that may buy, as an object with its `id`. Null if users have set none.',
          ),
          contact: contact().description(
            'Contact at the company who takes part in the sale, as an object with its `id`. Null if none is set.',
          ),
          stage: nullableText(
            'Step of the sales process, such as `Prospecting`. Each organization defines the values at Salesforce. Null if Salesforce returns none.',
          ),
          status: nullable(opportunityStatus()).description(
            '`OPEN` while the sale can still be won, `WON` once it is won; null if it is lost.',
          ),
          close_date: nullableText(
            'Day on which the sale is expected to end, or ended, `YYYY-MM-DD`. Null if Salesforce returns none.',
          ),
        },
      ),
    ),
  },
} as const satisfies Record<
  string,
  {
    readonly singular: string;
    /** Names of its schemas in the reference. */
    readonly names: Readonly<Record<'request' | 'filters' | 'order' | 'page', string>>;
    readonly filters: Record<string, Joi.Schema>;
    readonly orders: readonly string[];
    readonly record: Joi.ObjectSchema;
  }
>;
export type CrmOperation = keyof typeof CRM_OPERATIONS;
