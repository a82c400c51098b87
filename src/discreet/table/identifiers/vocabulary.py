"""The words by which columns are named, English and German, kind by kind.

Phrases are separated by commas and are normalised like the names of columns (lower case, ``ä`` to ``ae``,
``nr`` and ``nummer`` to ``number``), and the words of a phrase may be written together: ``birth date`` also
finds ``BirthDate``, ``birth_date`` and ``birthdate``.
"""

from __future__ import annotations

from typing import Final

from discreet.table.identifiers.lexicon import words

CERTAIN: Final[dict[str, str]] = {
    "name": "first name, last name, full name, given name, family name, sur name, middle name, maiden name, "
    "birth name, fore name, christian name, fname, lname, firstname, lastname, second name, nick name, "
    "person name, patient name, student name, customer name, client name, employee name, contact name, "
    "member name, doctor name, physician name, teacher name, mother name, father name, spouse name, "
    "author name, owner name, holder name, passenger name, candidate name, applicant name, respondent name, "
    "cardholder, vor name, nach name, familien name, zu name, geburts name, ruf name, maedchen name, "
    "ansprechpartner, name des patienten, patienten name, kunden name, mitarbeiter name, voller name, "
    "kontoinhaber, initials, initialen",
    "street": "street, street address, home address, postal address, mailing address, address line, "
    "house number, house no, house nbr, apartment number, strasse, str, strassen name, hausnummer, haus nr, hnr, "
    "anschrift, wohnadresse, adresszeile, strasse hausnummer, adresse, residential address, po box, postfach",
    "phone": "phone, telephone, mobile, mobile phone, cell phone, phone number, telephone number, tel, tel number, "
    "mobile number, cell number, contact number, msisdn, landline, whatsapp, telefon, telefonnummer, handy, handynummer, "
    "mobilnummer, mobiltelefon, rufnummer, festnetz, fon, home phone, work phone",
    "fax": "fax, fax number, telefax, facsimile, faxnummer",
    "email": "email, e mail, email address, mail address, mailadresse, emailadresse, e mail adresse, mail",
    "url": "url, uri, website, web site, homepage, home page, web address, webseite, internetadresse, permalink",
    "user-name": "user name, username, login, login name, screen name, twitter, twitter handle, facebook, "
    "instagram, linkedin, skype, benutzername, nutzername, anmeldename, social media handle",
    "password": "password, passwort, kennwort, passwd, pwd, pin code, api key, access token, secret key",
    "ssn": "ssn, social security number, social security no, social security, sozialversicherungsnummer, "
    "rentenversicherungsnummer, svnr, sv nummer, rvnr, ahv nummer, ahvnr, nir, insee number, national insurance number, nino",
    "national-id": "national id, national identifier, national identity number, identity card, identity number, "
    "id card number, personal identity number, citizen id, passport, passport number, passport no, tax id, "
    "tax number, taxpayer id, tin, itin, steuer id, steuernummer, steuer identifikationsnummer, idnr, steueridentnummer, "
    "ausweis, ausweisnummer, personalausweis, personalausweisnummer, reisepass, reisepassnummer, passnummer, "
    "personnummer, pesel, bsn, burgerservicenummer, codice fiscale, dni, nie, cpf, aadhaar, cpr number, fodselsnummer, "
    "hetu, sin number",
    "ip-address": "ip, ip address, ip addr, ipv4, ipv6, ip adresse, client ip, remote addr",
    "medical-record-number": "medical record number, medical record no, mrn, medical record, medical record id, "
    "chart number, patient record number, hospital number, krankenakte, aktennummer, patientenakte, "
    "patientenaktennummer, krankenaktennummer",
    "health-plan-number": "health plan number, health plan beneficiary number, health plan id, health insurance number, "
    "insurance number, insurance id, policy number, beneficiary number, beneficiary id, member number, subscriber id, "
    "subscriber number, medicare number, medicaid id, medicaid number, nhs number, nhs no, kvnr, kv nummer, egk nummer, "
    "krankenversichertennummer, krankenversicherungsnummer, versichertennummer, versicherten id, "
    "versicherungsnummer, krankenkassennummer, policennummer",
    "account-number": "account number, account no, bank account, bank account number, account id, acct number, acct, acct id, "
    "card number, credit card, credit card number, debit card, debit card number, pan, konto, kontonummer, kontonr, kto, "
    "ktonr, kreditkarte, kreditkartennummer, kartennummer, bankverbindung, routing number, paypal",
    "iban": "iban",
    "vin": "vin, vehicle identification number, vehicle id, vehicle number, chassis number, fin, fahrgestellnummer, "
    "fahrzeug identifizierungsnummer, fahrzeug id, fahrzeug ident number, vehicle serial number",
    "licence-plate": "licence plate, license plate, number plate, licence plate number, license plate number, plate number, "
    "vehicle registration, registration plate, vrn, kennzeichen, kfz kennzeichen, kfz, nummernschild, autokennzeichen",
    "device-id": "device id, device identifier, device number, serial number, serial no, imei, imsi, meid, iccid, mac, "
    "mac address, mac addr, mac adresse, udid, idfa, advertising id, android id, seriennummer, geraete id, "
    "geraetenummer, implant serial number, cookie, cookie id",
    "certificate": "licence number, license number, license no, licence no, certificate number, certificate no, certificate, "
    "driver license, driving licence, driver licence, drivers license, driver license number, drivers license number, "
    "driving licence number, npi, npi number, dea number, provider license number, fuehrerschein, fuehrerscheinnummer, "
    "urkundennummer, zertifikatsnummer, lizenznummer, approbation, approbationsnummer, lanr, arztnummer",
    "biometric": "biometric, biometrics, fingerprint, finger print, voice print, voiceprint, iris scan, retina, retina scan, "
    "face embedding, face template, faceid, palm print, biometrie, fingerabdruck, stimmabdruck, gesichtsmerkmale",
    "photo": "photo, photograph, picture, portrait, image, face image, profile picture, mugshot, avatar, selfie, foto, "
    "lichtbild, passbild, passfoto, bild, profilbild, photo url, image url, picture url",
    "free-text": "free text, freetext, comment, comments, remark, remarks, notes, narrative, anamnesis, anamnese, "
    "freitext, kommentar, bemerkung, bemerkungen, anmerkung, anmerkungen, notiz, notizen, arztbrief, doctor notes, "
    "discharge summary, epikrise",
    "birth-date": "birth date, date of birth, dob, birthday, birth day, bdate, born on, date born, geburtsdatum, geburts datum, "
    "geburtstag, geb datum, geb dat, gebdat, gebtag, geb am, geboren am, geboren",
    "birth-year": "birth year, year of birth, yob, year born, geburtsjahr, geb jahr, jahrgang, gebjahr",
    "date": "date, datum, timestamp, date time, datetime, zeitstempel, zeitpunkt, death date, date of death, dod, "
    "sterbedatum, todesdatum, todestag, admission date, discharge date, visit date, diagnosis date, aufnahmedatum, "
    "entlassungsdatum, entlassdatum, eintrittsdatum, austrittsdatum, hire date, behandlungsdatum, created at, updated at, "
    "event time, aufnahmetag, immatrikulationsdatum, pruefungsdatum, bestelldatum",
    "date-part": "day of week, weekday, birth month, month of birth, admission month, discharge month, wochentag, geburtsmonat, "
    "death month, death day, month of death, day of death, death mon, ideathmon, ideathday, sterbemonat, sterbetag",
    "year": "discharge year, admission year, diagnosis year, year of diagnosis, year of death, sterbejahr, todesjahr, "
    "eintrittsjahr, year of entry, diagnosejahr",
    "postcode": "zip, zip code, zip code 3 digits, zip 3, zip 5, postcode, post code, postal code, plz, postleitzahl, plz 3, plz 2",
    "city": "city, town, village, city of residence, birth place, place of birth, city of birth, hometown, home town, stadt, "
    "wohnort, geburtsort, ortschaft, ortsname, city name, town name, geburtsstadt, dorf",
    "small-geography": "county, district, municipality, borough, census tract, census block, block group, neighbourhood, "
    "neighborhood, ward, lsoa, msoa, puma, parish, commune, precinct, service area, health service area, landkreis, kreis, "
    "gemeinde, bezirk, ortsteil, stadtteil, stadtbezirk, wahlkreis, nuts 3, county name, gemeindeschluessel, ags, "
    "hospital county, catchment area",
    "coordinates": "latitude, longitude, lat, lon, lng, long lat, lat lon, gps, geo location, geolocation, coordinates, "
    "coordinate, koordinaten, breitengrad, laengengrad, geohash, easting, northing, gps lat, gps lon",
    "deprivation-index": "imd, imd band, imd decile, imd quintile, deprivation, deprivation index, deprivation decile, "
    "townsend score, acorn, sozialindex, simd, wimd, area deprivation",
    "region": "region, us state, home state, federal state, province, bundesland, kanton, canton, urbrur, urban rural, land kreis region, "
    "state code, state name, region name, place of residence, residence, residence type, area type, urban, rural, division",
    "country": "country, country code, country of residence, wohnland, staat, wohnsitzland",
    "age": "age, age group, age band, age class, age range, age category, age years, age in years, age at diagnosis, "
    "age at admission, age of youngest, age youngest, age young, iage, alter, altersgruppe, altersklasse, alter in jahren, lebensalter, alter bei aufnahme",
    "sex": "sex, gender, isex, geschlecht, gender identity, sex at birth, gschl, geschl",
    "ethnicity": "race, ethnicity, ethnic, ethnic group, ethnic origin, ethnie, etni, hispanic, irace, ihispanic, skin colour, skin color, "
    "hautfarbe, ethnische herkunft, migrationshintergrund, migration background, tribe, caste, "
    "ethn, nonwhite, non white, hisp, race ethnicity",
    "nationality": "nationality, citizenship, native country, country of birth, birth country, country of origin, "
    "nativecountry, immigration status, staatsangehoerigkeit, staatsbuergerschaft, nationalitaet, geburtsland, herkunftsland",
    "marital-status": "marital status, marital, marstat, civil status, hhcivil, relationship status, married, familienstand, "
    "zivilstand, verheiratet",
    "household": "household, household size, household type, household composition, family size, children, dependents, "
    "number of children, number of dependents, relationship, relat, living arrangement, haushalt, haushaltsgroesse, "
    "haushaltstyp, kinder, kinderzahl, anzahl kinder, personen im haushalt, head of household, parents, dwelling, housing, roof, "
    "wall, floor material, water, water supply, drinking water, toilet, electricity, electcon, cooking fuel, number of rooms, "
    "family type, fam size, siblings, guardian, wohnung, wohnform, dach, zimmerzahl, "
    "kids, nkids, nchild, nchildren, number of kids, anzahl der kinder, haushaltsmitglieder, geschwister",
    "education": "education, education level, highest education, educ, education num, degree, qualification, schooling, "
    "years of schooling, bildung, bildungsabschluss, bildungsgrad, schulabschluss, hochschulabschluss, abschluss, "
    "ausbildung, schulbildung, berufsabschluss, highest qualification, "
    "education years, years of education, school years, high school, college, edlevel, ed level, schulklasse, "
    "jahrgangsstufe, klassenstufe, grade level, school class, years since phd, yrs since phd",
    "occupation": "occupation, profession, job, job title, employer, employment, employment status, workclass, work class, "
    "working class, job role, industry, military service, beruf, berufsgruppe, taetigkeit, arbeitgeber, erwerbsstatus, "
    "beschaeftigung, branche, stellung im beruf, dienstgrad, job code, occucode, work type, type of work, working status, labour force status, "
    "labor force status, class of worker, sector, naics, isco, soc code, ssoc, nace, "
    "work experience, years of experience, years experience, experience years, years of service, yrs service, "
    "years in service, years worked, job tenure, seniority, hours worked, working hours, work hours, hrs worked, fte, "
    "full time, part time, berufserfahrung, dienstjahre, betriebszugehoerigkeit, wochenstunden, arbeitszeit, "
    "arbeitsstunden, beschaeftigungsgrad, stellenumfang, teilzeit, vollzeit, self employed, blue collar, white collar, "
    "unemployed, labour force, labor force, retired",
    "organisation": "facility, facility name, facility id, facility code, facility number, hospital, hospital name, hospital id, hospital code, clinic, "
    "clinic name, clinic id, organisation, organization, organisation name, organization name, company, company name, school, school name, "
    "school id, university, university name, department, department name, institution, institution name, site id, bank name, "
    "operating certificate number, utility name, agency name, firm name, practice name, employer name, krankenhaus, klinik, "
    "einrichtung, firma, firmenname, schule, schulname, hochschule, abteilung, verein, praxis, station, kostenstelle, "
    "cost center, cost centre, kita, kindergarten",
    "religion": "religion, religious affiliation, faith, denomination, religious belief, konfession, religionszugehoerigkeit, "
    "glaube, kirchensteuer, kirchenzugehoerigkeit, belief, "
    "religious, religiosity, church attendance",
    "language": "language, mother tongue, native language, spoken language, first language, sprache, muttersprache, "
    "languages, preferred language, "
    "home language, herkunftssprache, familiensprache",
    "body-measurement": "body weight, body height, bmi, body mass index, shoe size, eye colour, eye color, hair colour, "
    "hair color, koerpergroesse, koerpergewicht, augenfarbe, haarfarbe, weight kg, height cm, "
    "handedness, handed, waist, waist circumference, hip circumference",
    "stay": "length of stay, los, time in hospital, type of admission, admission type, admission source, admission type id, "
    "admission source id, patient disposition, discharge disposition, discharge disposition id, "
    "emergency department indicator, admission location, discharge location, discharge status, admission reason, verweildauer, aufnahmeart, aufnahmegrund, entlassungsart, entlassgrund",
    "insurance": "insurance, insurance type, insurer, payer, payer code, payment typology, source of payment, health insurance, "
    "krankenkasse, krankenversicherung, versicherung, versicherungsart, kostentraeger, "
    "hmo, medicaid, medicare, insured, insurance status, private insurance, privins, health plan",
    "diagnosis": "diagnosis, diagnoses, diagnosis code, diagnosis description, diag, icd, icd code, icd 9, icd 10, icd 9 code, "
    "icd 10 code, disease, condition code, comorbidity, comorbidities, drg, mdc, apr drg code, ccs diagnosis code, "
    "ccs diagnosis description, cause of death, diagnose, diagnosen, diagnoseschluessel, hauptdiagnose, nebendiagnose, "
    "krankheit, erkrankung, vorerkrankung, todesursache, dx, tumor, cancer, injury, iinjury, "
    "hypertension, high blood pressure, stroke, heart disease, heart attack, heart failure, angina, asthma, copd, arthritis, "
    "epilepsy, dementia, alzheimer, hepatitis, tuberculosis, malaria, infection, covid, anaemia, anemia, osteoporosis, "
    "kidney disease, liver disease, thyroid, migraine, schizophrenia, autism, adhd, anxiety, bluthochdruck, schlaganfall, "
    "herzinfarkt, krebs, asthma bronchiale, rheuma, demenz, infektion, "
    "metastasis, metastases, tumor size, tumour size, tumor stage, tumour stage, tumor grade, tumour, lymph nodes, "
    "melanoma, leukemia, leukaemia, relapse, complication, complications, cirrhosis, ulcer, seizure, seizures, "
    "chronic condition, chronic disease, chronic illness, tumorstadium, rezidiv",
    "health": "health, health status, disability, disabled, handicap, medication, medications, drug, prescription, treatment, "
    "therapy, procedure, procedure code, procedure description, surgery, operation code, symptom, symptoms, blood pressure, "
    "blood type, blood group, blood sugar, cholesterol, glucose, max glu serum, a1c result, hba1c, lab result, lab value, laboratory value, "
    "allergy, allergies, vaccination, pregnancy, pregnant, abortion, abortion edit indicator, hiv, hiv status, diabetes, "
    "insulin, smoker, smoking, smoking status, alcohol, mental health, depression, severity of illness, risk of mortality, "
    "survived, survival, vital status, died, deceased, death, death event, expire flag, expired, heart rate, pulse, "
    "oxygen saturation, body temperature, chest pain, ejection fraction, creatinine, platelets, haemoglobin, hemoglobin, "
    "sodium, triglycerides, therapy response, addiction, suicide, disability status, icu, surgery type, anaesthesia, "
    "readmitted, readmission, medical specialty, outpatient, inpatient, emergency, hospitalisation, sick leave, sick days, birth weight, lab procedures, systolic, diastolic, "
    "gesundheit, gesundheitszustand, behinderung, schwerbehinderung, grad der behinderung, gdb, medikament, medikamente, "
    "medikation, behandlung, therapie, symptome, blutdruck, blutgruppe, blutzucker, laborwert, allergie, impfung, "
    "impfstatus, schwanger, schwangerschaft, raucher, rauchstatus, pflegegrad, krankheitstage, fehltage, befund, vaccine, "
    "medical surgical, "
    "albumin, bilirubin, chol, hdl, ldl, triglyceride, trig, platelet, platelet count, sgot, sgpt, alk phos, "
    "alkaline phosphatase, prothrombin, protime, hematocrit, haematocrit, wbc, rbc, white blood cells, crp, potassium, "
    "ferritin, urea, bun, egfr, psa, tsh, insulin level, glucose level, fasting glucose, diastolic bp, systolic bp, sbp, "
    "dbp, edema, oedema, ascites, biopsy, ecog, ph ecog, karno, karnofsky, apgar, apgar score, gestation, gestational age, "
    "menopause, birthweight, bwt, low birth weight, contraception, contraceptive, smoke, smokes, cigarettes, tobacco, "
    "nicotine, drinker, alcohol use, drug use, sickness, doctor visits, physician visits, doctor contacts, "
    "hospital visits, hospital days, hospital stays, hospital admissions, hospitalization, nights in hospital, medicine, "
    "physical limitation, survival time, survival months, time to death, follow up time, futime, dead, foerderbedarf, "
    "foerderschwerpunkt, special needs, special education, learning disability, absences, days absent, unexcused, "
    "unentschuldigt, entschuldigt, krank, pflegebeduerftig, pflegestufe, rauchen, alkohol",
    "genetic": "genetic, genome, genotype, dna, snp, allele, gene, mutation, karyotype, genetik, genom, genotyp, brca",
    "political-opinion": "political opinion, political party, party affiliation, party membership, political affiliation, vote, "
    "voting intention, politische meinung, partei, parteizugehoerigkeit, wahlabsicht, parteimitglied, "
    "party id, party identification, ideology, wahlentscheidung",
    "trade-union": "trade union, union member, union membership, gewerkschaft, gewerkschaftsmitglied, gewerkschaftszugehoerigkeit",
    "sexual-orientation": "sexual orientation, sexuality, sexual behaviour, sexual behavior, sexual preference, sex life, "
    "sexuelle orientierung, sexualitaet, sexual partners, "
    "affairs, extramarital affairs, extramarital, infidelity",
    "criminal-record": "criminal record, criminal, conviction, convictions, crime, offence, offense, arrest, arrests, sentence length, "
    "prison, prior convictions, recidivism, felony, vorstrafe, vorstrafen, strafregister, straftat, verurteilung, haft, delikt, "
    "charge degree, charge description, charge desc, recid, felonies, misdemeanor, misdemeanour, priors, offender, verdict, "
    "sentence, parole, probation, violation",
    "income": "income, salary, wage, wages, salary class, earnings, pay grade, net income, gross income, capital gain, capital loss, "
    "wealth, assets, savings, pension, benefits, social benefits, bonus, expenditure, expend, net worth, total charges, total costs, "
    "einkommen, gehalt, lohn, bruttolohn, nettolohn, verdienst, vermoegen, rente, einkuenfte, kontostand, account balance, "
    "bruttogehalt, jahresgehalt, monatsgehalt, sozialhilfe, buergergeld, besoldungsgruppe, entgeltgruppe, spareinlagen, hourly rate, "
    "tax, taxes, agi, fica, social security tax, tax liability, contribution, revenue, turnover, sales, profit, gross profit, "
    "net profit, operating profit, dividend, interest income, property income, expense, cost, labor costs, labour costs, "
    "depreciation, amortisation, capital, paid up capital, equity, funds, treasury, cash flow, current assets, fixed assets, "
    "financial result, financial outcome, commission, allowance, tip, gratuity, fare, fare amount, toll, price, premium, "
    "donation, deposit, household income, family income, steuer, steuern, umsatz, gewinn, ertrag, aufwand, beitrag, preis, "
    "abschreibung, unterhalt, zulage, "
    "geld, miete warm, miete kalt, lohnsteuer, annual salary, base salary, base pay, hourly pay, food stamps, welfare, "
    "family earnings",
    "credit": "credit score, credit rating, credit risk, credit limit, credit history, credit amount, loan, loan amount, debt, debts, "
    "mortgage, default payment, schufa, bonitaet, kredit, kreditwuerdigkeit, schulden, darlehen, insolvency, insolvenz, "
    "loan status, verschuldung, liabilities, short term debt, long term debt, overdraft, existing credits, checking account, installment, instalment, debtors, guarantor, arrears, "
    "payment history, bankruptcy, foreclosure, loan purpose, verbindlichkeiten",
    "grade-or-result": "grade, grades, final grade, final result, exam result, exam score, test score, gpa, marks, exam grade, "
    "assessment score, pass fail, dropout, noten, abschlussnote, endnote, pruefungsergebnis, klausurnote, zensur, "
    "pruefungsnote, notendurchschnitt, schulnote, final mark, evaluation result, performance rating, beurteilung, "
    "math score, maths score, reading score, writing score, science score, verbal score, test result, sat score, iq, "
    "iq score, performance review, leistungsbeurteilung, zeugnisnote, gesamtnote",
    "sampling-weight": "fnlwgt, final weight, sampling weight, sample weight, survey weight, person weight, household weight, "
    "household weights, pweight, hweight, pwgt, wgt, design weight, hochrechnungsfaktor, gewichtungsfaktor, stichprobengewicht, "
    "expansion factor, weighting factor, grossing factor",
    "unique-id": "uuid, guid, personalnummer, personal nr, persnr, pers number, matrikelnummer, matrikel, matrikel nr, matr nr, matnr, "
    "kundennummer, kundennr, mitgliedsnummer, mitarbeiternummer, patientennummer, patnr, patienten id, fallnummer, "
    "aktenzeichen, ausweis id, pseudonym, personenkennung, kennung, laufende nummer, lfd number, teilnehmernummer, "
    "probanden id, vorgangsnummer, staff number, payroll number, roll number, enrolment number, enrollment number, "
    "registration number, ori hid, hhid, hid, household id, haushalts id, hash, unique id, record id, buchungsnummer, vertragsnummer, "
    "row number, row id, row num, index number, sequence number, serial number of record, auftragsnummer, rechnungsnummer, order number, invoice number, case number, case id, claim number, claim id",
}
"""Phrases that hardly mean anything else."""

LIKELY: Final[dict[str, str]] = {
    "name": "name, names, contact, doctor, physician, teacher, patient, author, passenger, arzt, lehrer, bearbeiter",
    "street": "address, addr",
    "url": "link, blog",
    "user-name": "handle, nick, user",
    "birth-date": "birth, born, geburt, geboren",
    "date": "time, zeit, start, end",
    "date-part": "month, day, monat, tag, quarter, quartal, week",
    "year": "year, jahr",
    "city": "ort, place, origin, destination",
    "small-geography": "location, area, zone, tract, lage, gebiet, standort",
    "region": "state, land, nuts, south, north, smsa, msa, metro",
    "sex": "anrede, salutation, male, female",
    "education": "studiengang, major, course of study, program, school type, schulform, klasse",
    "occupation": "position, role, rank, work, funktion, experience, exper",
    "household": "family, familie, spouse, partner, father, mother, dependants, tenure, wohnverhaeltnis",
    "body-measurement": "weight, height, gewicht, groesse",
    "health": "patient status, ccs, apr, surgical, illness, mortality, medical, lab, med, dose, dosis, unfall",
    "income": "money, amount, betrag, amount eur, amount usd, betrag eur, charges, costs, rent, miete, balance, fee, payment, expenses, ausgaben",
    "credit": "credit",
    "grade-or-result": "note, result, score, points, ergebnis, punkte, punktzahl, mark, rating, performance, achievement, "
    "mathe, mathematik, deutsch, englisch, franzoesisch, latein, physik, chemie, biologie, geschichte, erdkunde, musik, kunst, "
    "sport, math, maths, mathematics, english, reading, writing, science, physics, chemistry, biology, history, algebra",
    "free-text": "text, note, description of case, beschreibung, message, feedback, review, nachricht",
    "political-opinion": "party",
    "trade-union": "union",
    "ethnicity": "black, white, asian, eth",
    "device-id": "device, serial, geraet",
    "organisation": "employer id, provider, site, branch office, institut, filiale",
    "medical-record-number": "patient number, patient id, patient nbr, patienten nummer",
}
"""Phrases that usually mean this, but may mean something else; the content decides."""

NOT_PERSONAL: Final = (
    "hours per week, file name, product name, course name, module name, drug name, event name, column name, table name, "
    "field name, variable name, test name, item name, brand name, model name, project name, host name, domain name, "
    "device name, category name, code module, code presentation, group name, app name, song name, per week, per day, per month, "
    "per year, unit price, credits, studied credits, message id, page number, room number, line number, phone model, "
    "credit hours, response time, run time, time zone, data type, plate type, landing page, operating system, "
    "user agent, age of car, car age, vehicle age, age of vehicle, account age, building age, "
    "land use, state machine, mark up, date format, email type, version number, version"
)
"""Phrases that look like one of the above and tell nothing about a person."""

PERSON_WORDS: Final = words(
    """
    person people patient pat student pupil learner customer cust client employee emp staff worker user member participant
    subject proband respondent citizen resident individual applicant candidate voter passenger driver donor tenant
    insured beneficiary subscriber guest visitor teacher doctor physician provider account personen patienten studenten
    schueler kunde kunden mitarbeiter mitglied teilnehmer probanden versicherten buerger bewerber nutzer benutzer fahrer
    gast mieter lehrer arzt personal mitglieds studierenden arztes kundin patientin case fall
    """
)
"""Words for people (and for the case of one person): with a word for a number, they make a person's identifier."""

STAFF_WORDS: Final = words(
    "doctor physician provider teacher arzt arztes lehrer driver fahrer employee emp staff worker mitarbeiter personal"
)
"""Those of these words that may name who serves the people of a table, and not these."""

EVENT_WORDS: Final = words(
    """
    encounter visit episode admission stay order transaction booking claim record ticket invoice session contract
    sample specimen trip event application aufenthalt besuch auftrag bestellung rechnung vertrag vorgang probe hh household
    """
)
"""Words for what happens to one person: numbered, they identify the person to whoever holds the register."""

NUMBER_WORDS: Final = words("id ids number identifier identification key kennung nummer uid pid schluessel")
"""Words that say that a column numbers something."""

MONEY_ENDS: Final = (
    "tax", "income", "inc", "revenue", "sales", "wage", "salary", "profit", "expend", "earnings", "contrb", "contrib", "val",
)  # fmt: skip
"""Endings of abbreviations written together that speak of money: ``FEDTAX``, ``WSALVAL``."""

NO_MONEY: Final = words(
    "interval arrival survival approval removal retrieval renewal medieval naval oval rival zinc"
)
"""Words with such an ending that do not speak of money."""

PERIODS: Final = words(
    "hourly daily weekly monthly quarterly annual yearly stuendlich taeglich monatlich jaehrlich per month year total"
)
"""Words with which charges, costs or a rent are an amount that somebody pays."""

HOUSEHOLD_WORDS: Final = words("hid hhid household hh haushalt haushalts family fam dwelling hhnum hhnr")
"""Words for a household: its number is nobody's own."""

GERMAN_HEADS: Final = (
    "einkommen",
    "diagnose",
    "geschlecht",
    "datum",
    "strasse",
    "telefon",
    "vorname",
    "adresse",
    "vermoegen",
    "note",
    "sprache",
    "geld",
    "gehalt",
    "lohn",
    "beitrag",
)
"""Words that keep their meaning at the end of any German compound."""

MARKERS_AT_END: Final = words(
    """
    type typ art flag indicator count valid verified known present consent length format available provided kind
    vorhanden bekannt anzahl zustimmung gueltig opt optin source
    """
)
"""Last words that turn an identifier into a property of it: ``phone type`` is not a telephone number."""

MARKERS_AT_START: Final = words("is has hat ist num number count anzahl total no any")
"""First words that turn an identifier into a property or a count of it: ``has email``, ``number of visits``."""
