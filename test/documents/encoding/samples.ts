/** Texts of page length in many languages, written for these tests. */
export const SAMPLES = {
  ru: [
    'Городская библиотека открыта ежедневно, кроме понедельника.',
    'Чтобы получить читательский билет, возьмите с собой паспорт и небольшую фотографию. Мы оформим карточку за десять минут, и вы сможете сразу взять домой до пяти книг.',
    'Если срок возврата подходит к концу, продлите его по телефону или на нашем сайте. За каждый день просрочки взимается штраф, но детские издания можно сдать без доплаты.',
    'В читальном зале есть бесплатный интернет, сканер и тихие места для работы. Объявления о встречах с писателями вывешивают у входа за неделю до события.',
  ],
  uk: [
    'Міська бібліотека чекає на відвідувачів щодня, крім понеділка.',
    'Щоб отримати квиток читача, візьміть із собою паспорт і невелику світлину. Ми оформимо картку за десять хвилин, і ви зможете відразу взяти додому до п’яти книжок.',
    'Якщо термін повернення добігає кінця, подовжте його телефоном або на нашому сайті. За кожен день запізнення стягується штраф, проте дитячі видання можна здати без доплати.',
    'У читальній залі є безкоштовний інтернет, сканер і тихі місця для роботи. Її вікна виходять на ґанок старої школи.',
  ],
  bg: [
    'Градската библиотека е отворена всеки ден освен в понеделник.',
    'За да получите читателска карта, донесете лична карта и малка снимка. Ще я издадем за десет минути и веднага ще можете да вземете у дома до пет книги.',
    'Ако срокът за връщане изтича, удължете го по телефона или на нашата страница. За всеки ден закъснение се плаща малка такса, но детските книги могат да се върнат без доплащане.',
    'В читалнята има безплатен интернет, скенер и тихи места за работа. Съобщенията за срещи с писатели се поставят на входа една седмица по-рано.',
  ],
  el: [
    'Η δημοτική βιβλιοθήκη είναι ανοιχτή κάθε μέρα εκτός από τη Δευτέρα.',
    'Για να αποκτήσετε κάρτα αναγνώστη, φέρτε την ταυτότητά σας και μια μικρή φωτογραφία. Θα ετοιμάσουμε την κάρτα σε δέκα λεπτά και θα μπορείτε αμέσως να δανειστείτε μέχρι πέντε βιβλία.',
    'Αν πλησιάζει η ημερομηνία επιστροφής, ζητήστε παράταση από το τηλέφωνο ή από τη σελίδα μας. Για κάθε ημέρα καθυστέρησης υπάρχει μικρή χρέωση, όμως τα παιδικά βιβλία επιστρέφονται χωρίς επιβάρυνση.',
    'Στο αναγνωστήριο θα βρείτε δωρεάν σύνδεση, σαρωτή και ήσυχες θέσεις εργασίας.',
  ],
  he: [
    'הספרייה העירונית פתוחה בכל יום מלבד יום שני.',
    'כדי לקבל כרטיס קורא יש להביא תעודת זהות ותמונה קטנה. נכין את הכרטיס בתוך עשר דקות, ותוכלו מיד לקחת הביתה עד חמישה ספרים.',
    'אם מועד ההחזרה מתקרב, אפשר להאריך אותו בטלפון או באתר שלנו. על כל יום של איחור משלמים קנס קטן, אבל ספרי ילדים אפשר להחזיר בלי תשלום.',
    'באולם הקריאה יש חיבור חינם לרשת, סורק ומקומות שקטים לעבודה. הודעות על מפגשים עם סופרים נתלות בכניסה שבוע מראש.',
  ],
  ar: [
    'المكتبة البلدية مفتوحة كل يوم ما عدا يوم الاثنين.',
    'للحصول على بطاقة القارئ أحضر معك هويتك وصورة صغيرة. نجهز البطاقة خلال عشر دقائق، ثم يمكنك أن تستعير خمسة كتب وتأخذها إلى البيت.',
    'إذا اقترب موعد الإعادة فاطلب تمديده بالهاتف أو من موقعنا. عن كل يوم من التأخير تدفع غرامة صغيرة، أما كتب الأطفال فيمكن إعادتها دون رسوم.',
    'في قاعة القراءة شبكة مجانية وماسح ضوئي وأماكن هادئة للعمل. وتعلق الإعلانات عن اللقاءات مع الكتاب عند المدخل قبل أسبوع من موعدها.',
  ],
  th: [
    'ห้องสมุดเทศบาลเปิดทุกวันยกเว้นวันจันทร์',
    'หากต้องการทำบัตรสมาชิก โปรดนำบัตรประชาชนและรูปถ่ายขนาดเล็กมาด้วย เราจะออกบัตรให้ภายในสิบนาที แล้วท่านสามารถยืมหนังสือกลับบ้านได้ถึงห้าเล่ม',
    'เมื่อใกล้ถึงกำหนดคืน ท่านขอต่อเวลาได้ทางโทรศัพท์หรือที่เว็บไซต์ของเรา หากคืนช้าต้องเสียค่าปรับเล็กน้อย แต่หนังสือเด็กคืนได้โดยไม่มีค่าใช้จ่าย',
    'ในห้องอ่านหนังสือมีอินเทอร์เน็ตให้ใช้ฟรี มีเครื่องสแกน และมีที่นั่งเงียบสำหรับทำงาน',
  ],
  ja: [
    '市立図書館は月曜日を除いて毎日開いています。',
    '利用カードを作るときは、身分証明書と小さな写真をお持ちください。カードは十分ほどで出来上がり、その日から五冊まで借りることができます。',
    '返却の期限が近づいたら、電話か当館のホームページで延長を申し込めます。遅れた場合は一日ごとに料金がかかりますが、子ども向けの本は無料です。',
    '閲覧室には無料のインターネットとスキャナーがあり、静かに作業できる席も用意しています。作家との集まりのお知らせは、一週間前に入口に掲示します。',
  ],
  zh: [
    '市图书馆除星期一以外每天开放。',
    '办理借书证时，请带上身份证和一张小照片。我们十分钟内就能办好，您当天就可以借五本书回家。',
    '如果归还日期快到了，可以打电话或者在我们的网站上续借。每超过一天要付少量罚款，但是儿童读物不收费。',
    '阅览室里有免费网络、扫描仪和安静的座位，适合工作和学习。作家见面会的通知会提前一周贴在大门旁边。老读者还可以预订新书，书到了以后我们会发短信告诉您。',
  ],
  zhHant: [
    '市立圖書館除了星期一以外每天開放。',
    '辦理借書證時，請帶身分證和一張小照片。我們十分鐘內就能辦好，您當天就可以借五本書回家。',
    '如果歸還日期快到了，可以打電話或者在我們的網站上續借。每超過一天要付少量罰款，但是兒童讀物不收費。',
    '閱覽室裡有免費網路、掃描器和安靜的座位，適合工作和學習。作家見面會的通知會提前一週貼在大門旁邊。老讀者還可以預訂新書，書到了以後我們會發簡訊告訴您。',
  ],
  ko: [
    '시립 도서관은 월요일을 빼고 날마다 문을 엽니다.',
    '회원증을 만들려면 신분증과 작은 사진을 가져오십시오. 회원증은 십 분 안에 나오며, 그날부터 책을 다섯 권까지 빌릴 수 있습니다.',
    '반납 날짜가 가까워지면 전화나 누리집에서 기간을 늘릴 수 있습니다. 늦으면 하루마다 요금이 조금 붙지만, 어린이 책은 무료입니다.',
    '열람실에는 무료 인터넷과 스캐너가 있고 조용히 일할 자리도 있습니다. 작가와 만나는 모임은 일주일 전에 입구에 알립니다.',
  ],
  pl: [
    'Biblioteka miejska jest otwarta codziennie oprócz poniedziałku.',
    'Aby otrzymać kartę czytelnika, proszę przynieść dowód i małe zdjęcie. Kartę wydajemy w dziesięć minut, a jeszcze tego samego dnia można wypożyczyć pięć książek.',
    'Jeśli zbliża się termin zwrotu, można go przedłużyć przez telefon albo na naszej stronie. Za każdy dzień spóźnienia pobieramy niewielką opłatę, lecz książki dla dzieci są z niej zwolnione.',
    'W czytelni są bezpłatna sieć, skaner i ciche miejsca do pracy. Źródła do dziejów miasta leżą w gablocie. Śledź też ogłoszenia o spotkaniach z pisarzami.',
  ],
  cs: [
    'Městská knihovna je otevřená každý den kromě pondělí.',
    'Chcete-li získat průkaz čtenáře, přineste občanský průkaz a malou fotografii. Průkaz vydáme do deseti minut a ještě týž den si můžete půjčit pět knih.',
    'Blíží-li se konec lhůty, prodlužte ji telefonem nebo na našich stránkách. Za každý den zpoždění se platí malý poplatek, dětské knížky však vracíte zdarma.',
    'Ve studovně najdete bezplatnou síť, skener a tichá místa k práci. Šatna je v přízemí, žádáme vás, abyste tam nechali tašky. Ťuk na dveře stačí.',
  ],
  hu: [
    'A városi könyvtár hétfő kivételével minden nap nyitva van.',
    'Olvasójegyhez hozza magával a személyi igazolványát és egy kis fényképet. A jegyet tíz perc alatt elkészítjük, és ön még aznap öt könyvet vihet haza.',
    'Ha közeledik a határidő, telefonon vagy a honlapunkon kérhet hosszabbítást. Minden késett napért kevés díjat kell fizetni, a gyerekkönyvekért azonban nem.',
    'Az olvasóteremben ingyenes hálózat, szkenner és csendes munkahelyek vannak. Az írókkal való találkozókról egy héttel előbb a bejáratnál értesítjük önöket. Külső hűvös udvarunk is van.',
  ],
  tr: [
    'Şehir kütüphanesi pazartesi dışında her gün açıktır.',
    'Okuyucu kartı almak için kimliğinizi ve küçük bir fotoğraf getirin. Kartınızı on dakikada hazırlıyoruz, aynı gün beş kitabı eve götürebilirsiniz.',
    'İade günü yaklaştığında süreyi telefonla ya da sayfamızdan uzatabilirsiniz. Geciken her gün için küçük bir ücret alınır, çocuk kitapları ise ücretsizdir.',
    'Okuma salonunda ücretsiz ağ, tarayıcı ve sessiz çalışma yerleri vardır. Yazarlarla buluşmalar bir hafta önce girişte duyurulur. Ağaçların altında ığıl ığıl bir çeşme akar.',
  ],
  lt: [
    'Miesto biblioteka dirba kasdien, išskyrus pirmadienį.',
    'Norėdami gauti skaitytojo bilietą, atsineškite asmens dokumentą ir nedidelę nuotrauką. Bilietą parengsime per dešimt minučių, o tą pačią dieną galėsite pasiimti penkias knygas.',
    'Jei artėja grąžinimo terminas, pratęskite jį telefonu arba mūsų svetainėje. Už kiekvieną vėlavimo dieną imamas nedidelis mokestis, tačiau vaikiškos knygos grąžinamos nemokamai.',
    'Skaitykloje yra nemokamas ryšys, skeneris ir tylios darbo vietos. Žinutės apie susitikimus su rašytojais kabinamos prie įėjimo savaitę iš anksto. Čia šilta ir žiemą.',
  ],
  lv: [
    'Pilsētas bibliotēka ir atvērta katru dienu, izņemot pirmdienu.',
    'Lai saņemtu lasītāja karti, paņemiet līdzi personas apliecību un nelielu fotogrāfiju. Karti izsniedzam desmit minūtēs, un tajā pašā dienā varat aiznest mājās piecas grāmatas.',
    'Ja tuvojas atdošanas termiņš, pagariniet to pa tālruni vai mūsu lapā. Par katru nokavētu dienu jāmaksā neliela summa, bet bērnu grāmatas var atdot bez maksas.',
    'Lasītavā ir bezmaksas tīkls, skeneris un klusas darba vietas. Ziņas par tikšanos ar rakstniekiem ir pie ieejas nedēļu iepriekš. Šķērsielā ir arī neliels ģērbtuvju ceļš.',
  ],
  de: [
    'Die Stadtbücherei ist täglich außer montags geöffnet.',
    'Für einen Leserausweis bringen Sie bitte Ihren Personalausweis und ein kleines Foto mit. Der Ausweis ist in zehn Minuten fertig, und Sie können noch am selben Tag fünf Bücher mitnehmen.',
    'Läuft die Frist ab, verlängern Sie sie telefonisch oder über unsere Seite. Für jeden Tag Verspätung fällt eine kleine Gebühr an, Kinderbücher sind jedoch gebührenfrei.',
    'Im Lesesaal gibt es kostenloses Netz, einen Scanner und ruhige Plätze. Ankündigungen hängen früh genug am Eingang, auch für Gäste aus Österreich.',
  ],
  fr: [
    'La bibliothèque municipale est ouverte tous les jours, sauf le lundi.',
    'Pour obtenir une carte de lecteur, présentez une pièce d’identité et une petite photo. La carte est prête en dix minutes, et vous pouvez emprunter cinq livres le jour même.',
    'Si la date de retour approche, prolongez le prêt par téléphone ou sur notre site. Chaque journée de retard coûte une somme modique, mais les livres pour enfants sont exonérés.',
    'La salle de lecture offre un réseau gratuit, un scanner et des places où l’on travaille au calme. À côté, un théâtre accueille des élèves : ça plaît, même en août.',
  ],
} as const;

export type Language = keyof typeof SAMPLES;

/** Older encodings of pages in each language, and a wrong encoding that servers declare for these pages. */
export const LEGACY: Readonly<Record<Language, { readonly encodings: readonly string[]; readonly wrong: string }>> = {
  ru: { encodings: ['windows-1251', 'koi8-r', 'ibm866', 'iso-8859-5', 'x-mac-cyrillic'], wrong: 'iso-8859-1' },
  uk: { encodings: ['windows-1251', 'koi8-u'], wrong: 'iso-8859-1' },
  bg: { encodings: ['windows-1251', 'iso-8859-5'], wrong: 'koi8-r' },
  el: { encodings: ['windows-1253', 'iso-8859-7'], wrong: 'iso-8859-1' },
  he: { encodings: ['windows-1255', 'iso-8859-8-i'], wrong: 'windows-1252' },
  ar: { encodings: ['windows-1256', 'iso-8859-6'], wrong: 'iso-8859-1' },
  th: { encodings: ['windows-874'], wrong: 'iso-8859-1' },
  ja: { encodings: ['shift_jis', 'euc-jp', 'iso-2022-jp'], wrong: 'iso-8859-1' },
  zh: { encodings: ['gb18030', 'gbk'], wrong: 'big5' },
  zhHant: { encodings: ['big5'], wrong: 'gb2312' },
  ko: { encodings: ['euc-kr'], wrong: 'iso-8859-1' },
  pl: { encodings: ['windows-1250', 'iso-8859-2'], wrong: 'iso-8859-1' },
  cs: { encodings: ['windows-1250', 'iso-8859-2'], wrong: 'iso-8859-1' },
  hu: { encodings: ['windows-1250', 'iso-8859-2'], wrong: 'iso-8859-1' },
  tr: { encodings: ['windows-1254'], wrong: 'iso-8859-1' },
  lt: { encodings: ['windows-1257', 'iso-8859-13', 'iso-8859-4'], wrong: 'iso-8859-1' },
  lv: { encodings: ['windows-1257', 'iso-8859-13', 'iso-8859-4'], wrong: 'iso-8859-1' },
  de: { encodings: ['windows-1252', 'iso-8859-15'], wrong: 'shift_jis' },
  fr: { encodings: ['windows-1252'], wrong: 'windows-1251' },
};
