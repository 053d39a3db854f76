// The names and words that records are made of, script by script: the common ones as they are, the rare ones out of syllables.

/** A way of writing, and what is written in it. */
export interface Script {
  name: string;
  /** Of all people. */
  share: number;
  /** The most common first. */
  firstNames: readonly string[];
  lastNames: readonly string[];
  /** Of texts. */
  words: readonly string[];
  /** What rare names are made of. */
  syllables: readonly string[];
  /** What stands between two words. */
  gap: '' | ' ';
}

interface Lists {
  share: number;
  first: string;
  last: string;
  words: string;
  syllables: string;
  gap?: '';
}

const LATIN_WORDS =
  'the and to of for we with meeting call about price offer contract demo next week sent asked would like new project team ' +
  'budget quarter renewal invoice order delivery support question answer follow up interested product pricing proposal ' +
  'manager purchase license users integration data security review legal signed waiting decision board approval pilot trial ' +
  'feedback training onboarding partner event conference booth met introduced by referral website form newsletter webinar ' +
  'report dashboard export import migration server cloud hosting mobile app design brand campaign market region country ' +
  'office visit lunch flight hotel agenda minutes summary notes draft final version feature request bug ticket urgent later ' +
  'summer winter spring autumn morning afternoon today tomorrow monday friday engineer factory warehouse logistics shipping ' +
  'customs steel paper glass machine pump valve turbine engine bearing motor cable sensor battery solar wind energy water ' +
  'hospital clinic school university research laboratory library museum insurance bank credit leasing payment currency tax';

const LISTS: Record<string, Lists> = {
  latin: {
    share: 0.72,
    first:
      'James Mary Robert Patricia John Jennifer Michael Linda David Elizabeth William Barbara Richard Susan Joseph Jessica ' +
      'Thomas Sarah Charles Karen Anna Maria José Luis Carmen Ana Juan Sofía Pierre Camille Léa François Chloé Hans Jürgen ' +
      'Ursula Günther Anke Björn Åsa Søren Ingrid Łukasz Agnieszka Zoë Renée Giulia Marco Francesca João Inês Thiago Mehmet ' +
      'Ayşe Daniel Emma Olivia Noah Liam Lucas Mia Hannah Felix Jonas Lena Marie Paul Peter Andreas Stefan Martin Katarina ' +
      'Eva Petra Jana Tomáš Jiří Zsófia László István Ioana Andrei Elena Aisha Omar Fatima Kwame Ama Chidi Ngozi Priya Arjun',
    last:
      'Smith Johnson Williams Brown Jones García Miller Davis Rodríguez Martínez Hernández López Wilson Anderson Thomas Taylor ' +
      'Moore Jackson Martin Lee Thompson White Müller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Koch ' +
      'Bauer Richter Klein Wolf Schröder Neumann Dubois Durand Lefebvre Moreau Laurent Simon Michel Leroy Rossi Russo Ferrari ' +
      'Esposito Bianchi Romano Silva Santos Oliveira Souza Pereira Costa Almeida Nguyen Tran Yılmaz Kaya Demir Jensen Nielsen ' +
      "Hansen Andersson Johansson Karlsson Kowalski Nowak Wiśniewski Novák Svoboda Horváth Nagy Popescu Ionescu O'Brien Murphy",
    words: LATIN_WORDS,
    syllables:
      'an ar bel ber bo bra cal car co da del dor el en er fa fer gal ger gra ha hel il in ja jo ka kel ko la lan len li lo ma ' +
      'mar men mi mo na nel ni no ol or pa per pi ra ren ri ro sa sel sta ster sun ta tan tel ti to tor tri ul va ven vi vo wal ' +
      'wen win za zel',
  },
  cyrillic: {
    share: 0.08,
    first:
      'Александр Елена Сергей Ольга Дмитрий Наталья Андрей Анна Алексей Мария Иван Татьяна Михаил Ирина Николай Екатерина ' +
      'Владимир Юлия Олександр Оксана Тарас Богдан Георги Иванка Милош Јелена',
    last:
      'Иванов Смирнова Кузнецов Попова Васильев Петрова Соколов Михайлова Новиков Фёдорова Морозов Волкова Алексеев Лебедева ' +
      'Шевченко Коваленко Бондаренко Ткаченко Димитров Георгиева Петровић Јовановић',
    words:
      'договор встреча звонок цена поставка заказ счёт оплата проект завод склад отдел директор менеджер вопрос ответ скидка ' +
      'образец доставка гарантия оборудование насос двигатель кабель лицензия обучение отчёт срок бюджет решение',
    syllables:
      'бо ва ве го да де за зе ки ко ла ле ма ми на не ол ов па пе ра ре са се ти то ха че ша ял ин ев ук енко',
  },
  han: {
    share: 0.06,
    first:
      '伟 芳 娜 敏 静 丽 强 磊 军 洋 勇 艳 杰 娟 涛 明 超 秀英 桂英 志强 建国 雨欣 子涵 浩然 诗涵 梓萱 怡君 家豪 淑芬 俊杰',
    last: '王 李 张 刘 陈 杨 黄 赵 吴 周 徐 孙 马 朱 胡 郭 何 高 林 郑 罗 梁 谢 宋 唐 欧阳 司马 上官',
    words:
      '合同 会议 报价 订单 交货 发票 付款 项目 工厂 仓库 部门 经理 问题 回复 折扣 样品 保修 设备 水泵 电机 电缆 许可证 培训 报告 预算 决定',
    syllables:
      '文 华 国 平 志 美 玉 海 云 春 雪 梅 龙 凤 山 江 天 星 月 光 荣 庆 福 德 永 成 新 宇 思 嘉 晓 佳 若 一 锦 瑞 晨 博',
    gap: '',
  },
  japanese: {
    share: 0.04,
    first: '翔太 さくら 大輔 陽子 健一 美咲 拓也 結衣 直樹 葵 学 由美 隆 恵子 ひろし あかり ケン マリア',
    last: '佐藤 鈴木 高橋 田中 伊藤 渡辺 山本 中村 小林 加藤 吉田 山田 佐々木 山口 松本 井上 木村 斎藤',
    words:
      '契約 会議 見積もり 注文 納期 請求書 支払い プロジェクト 工場 倉庫 部長 質問 回答 サンプル 保証 設備 ポンプ モーター ケーブル ライセンス',
    syllables: '川 田 山 村 木 野 原 井 口 本 子 美 太 郎 一 二 真 希 奈 香 里 織 斗 馬 平 之 彦 雄',
    gap: '',
  },
  hangul: {
    share: 0.03,
    first: '민준 서연 지훈 서현 현우 민서 도윤 하은 준호 지우 영수 영희 은주 성민',
    last: '김 이 박 최 정 강 조 윤 장 임 한 오 서 신 권 황 안 송 남궁',
    words:
      '계약 회의 견적 주문 납품 송장 결제 프로젝트 공장 창고 부서 관리자 질문 답변 할인 샘플 보증 장비 펌프 모터',
    syllables: '가 나 다 라 마 바 사 아 자 민 준 서 연 지 훈 현 우 도 윤 하 은 영 수 희 성 재 동 경 선 미',
    gap: '',
  },
  arabic: {
    share: 0.03,
    first: 'محمد فاطمة أحمد عائشة علي مريم حسن زينب عمر خديجة يوسف نور إبراهيم سارة',
    last: 'حداد خوري منصور السيد الشريف العلي بكر ناصر سعيد قاسم عبدالله الحسيني',
    words:
      'عقد اجتماع اتصال سعر عرض طلب تسليم فاتورة دفع مشروع مصنع مخزن قسم مدير سؤال جواب خصم عينة ضمان معدات',
    syllables: 'با دا را سا شا عا فا قا كا لا ما نا ها وا يا بي دي ري سي لي مي ني',
  },
  devanagari: {
    share: 0.015,
    first: 'आरव प्रिया राहुल अंजलि विजय सुनीता अमित पूजा',
    last: 'शर्मा वर्मा गुप्ता सिंह पटेल कुमार मिश्रा जोशी',
    words: 'अनुबंध बैठक कीमत आदेश भुगतान परियोजना कारखाना प्रश्न उत्तर छूट नमूना उपकरण',
    syllables: 'अ आ का खा गा चा जा ता दा ना पा बा मा या रा ला वा शा सा हा',
  },
  thai: {
    share: 0.01,
    first: 'สมชาย สมหญิง ประเสริฐ มาลี วิชัย สุดา',
    last: 'ใจดี ศรีสุข ทองดี แสงทอง บุญมา วงศ์ไทย',
    words: 'สัญญา ประชุม ราคา สั่งซื้อ จัดส่ง ใบแจ้งหนี้ โครงการ โรงงาน คำถาม คำตอบ',
    syllables: 'กา ขา คา งา จา ชา ดา ตา ทา นา บา ปา มา รา ลา วา สา หา',
    gap: '',
  },
  greek: {
    share: 0.015,
    first: 'Γιώργος Μαρία Δημήτρης Ελένη Κώστας Κατερίνα Νίκος Σοφία',
    last: 'Παπαδόπουλος Νικολάου Γεωργίου Παππάς Οικονόμου Καραγιάννη',
    words:
      'συμβόλαιο συνάντηση τιμή προσφορά παραγγελία παράδοση τιμολόγιο έργο εργοστάσιο ερώτηση απάντηση έκπτωση',
    syllables: 'αν βα γα δη θε κα λα μα νι πα ρα σα τα φι χα ος ης ου',
  },
};

const words = (text: string) => text.split(' ');

/** All of them; their shares come to 1. */
export const SCRIPTS: readonly Script[] = Object.entries(LISTS).map(([name, lists]) => ({
  name,
  share: lists.share,
  firstNames: words(lists.first),
  lastNames: words(lists.last),
  words: words(lists.words),
  syllables: words(lists.syllables),
  gap: lists.gap ?? ' ',
}));

/** What people do, and how senior they are. */
export const JOBS = words(
  'Engineer Manager Director Consultant Analyst Assistant Buyer Accountant Designer Developer Controller Planner Nurse ' +
    'Technician Architect Lawyer Editor Researcher Teacher Partner Owner Founder CEO CFO CTO',
);
export const RANKS = [
  '',
  '',
  '',
  'Senior',
  'Lead',
  'Junior',
  'Head of',
  'Vice',
  'Chief',
  'Regional',
] as const;
export const FIELDS_OF_WORK = words(
  'Sales Purchasing Finance Operations Marketing Logistics Quality Research IT Legal Support HR',
);

/** What companies do, what they are called for it, and where they are. */
export const INDUSTRIES = words(
  'Manufacturing Software Logistics Energy Retail Healthcare Banking Insurance Education Construction Media Telecom Chemicals ' +
    'Agriculture Automotive Pharma',
);
export const TRADES = words(
  'Systems Trading Logistics Energy Foods Motors Pharma Media Group Partners Consulting Steel Textiles Labs Software Works',
);
export const FORMS = [
  'Ltd',
  'Inc',
  'GmbH',
  'AG',
  'SA',
  'S.r.l.',
  'BV',
  'AB',
  'LLC',
  'plc',
  'Kft',
  'Oy',
] as const;
export const PLACES: readonly (readonly [city: string, country: string, calling: string])[] = [
  ['London', 'United Kingdom', '44 20'],
  ['New York', 'United States', '1 212'],
  ['Berlin', 'Germany', '49 30'],
  ['München', 'Germany', '49 89'],
  ['Paris', 'France', '33 1'],
  ['Madrid', 'Spain', '34 91'],
  ['São Paulo', 'Brazil', '55 11'],
  ['東京', '日本', '81 3'],
  ['上海', '中国', '86 21'],
  ['Москва', 'Россия', '7 495'],
  ['Kyïv', 'Ukraine', '380 44'],
  ['İstanbul', 'Türkiye', '90 212'],
  ['القاهرة', 'مصر', '20 2'],
  ['서울', '대한민국', '82 2'],
  ['Αθήνα', 'Ελλάδα', '30 21'],
  ['Mumbai', 'India', '91 22'],
];
export const TLDS = [
  'com',
  'com',
  'com',
  'de',
  'co.uk',
  'fr',
  'net',
  'io',
  'eu',
  'org',
  'com.br',
  'jp',
] as const;
export const MAIL_HOSTS = ['gmail.example', 'outlook.example', 'mail.example', 'yahoo.example'] as const;
